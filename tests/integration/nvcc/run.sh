#!/bin/sh
# Needs nvcc on PATH (NVCC=... chooses one). Four parts:
#   The kernels' results again, from PTX as nvcc writes it for each architecture, not lowered like
#   the committed files. The host references of tests/device/unit/kernels.c decide, on the device
#   that the tests use.
#   interop.cu: gpuexec, the runtime API and cuBLAS in one process. It is compiled on every machine,
#   and runs on a GPU. link_ways.c: two sources compiled separately (-rdc=true), linked as PTX, as a
#   static library, and with LTO by nvJitLink, from every kind of file that nvcc makes: the results
#   are the same.
#   torch_capture.py: captures of PyTorch around gpuexec, and of gpuexec around PyTorch, where there
#   is a GPU for both. INTEROP_ROUNDS=1000: how many rounds, 100 by default.  TEST_ALL=1: also the
#   kernels' results, and every way to link; with NVCC_ONLY=interop only the programs of this
#   folder.
cd "$(dirname "$0")/../../.." || exit 1
[ -n "${TEST_ALL:-}" ] || NVCC_ONLY=interop
root=$PWD
nvcc=$(command -v "${NVCC:-nvcc}") ||
{ echo "  skipped: no nvcc on this machine"; echo "suite nvcc: 0 passed, 0 failed, 1 skipped"; \
    exit 0; }
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=$root/${BUILD:-build} ;; esac
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-nvcc-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
passed=0 failed=0 skipped=0
bad()  { failed=$((failed + 1)); echo "failed: $1"; sed 's/^/    /' "$out/log"; }
skip() { skipped=$((skipped + 1)); echo "  skipped: $1"; }

# has_gpu: the system's own driver has a device, and the tests run there.
has_gpu() { [ -z "${GPUEXEC_DRIVER:-}" ] && [ -x "$build/find_device" ] &&
    "$build/find_device" >/dev/null; }
[ -n "${TEST_ALL:-}" ] || has_gpu || {
    echo "  skipped: no GPU here; TEST_ALL=1 compiles with nvcc anyway, and runs on the CPU device"
    echo "suite nvcc: 0 passed, 0 failed, 1 skipped"
    exit 0
}
interop() {
    [ -z "${TEST_DEVICE:-}" ] || export CUDA_VISIBLE_DEVICES="$TEST_DEVICE"
    if has_gpu; then arch=native; else arch=sm_75; fi
    blas=
    if echo '#include <cublas_v2.h>' |
        "$nvcc" -x cu -E - >/dev/null 2>&1; then blas='-DINTEROP_CUBLAS -lcublas'
    else skip "interop without cuBLAS, which this toolkit lacks"; fi
    if ! "$nvcc" -std=c++17 -O1 -arch=$arch -Werror all-warnings -Xcompiler -Wall,-Wextra \
        tests/integration/nvcc/interop.cu -o "$out/interop" $blas -ldl -lpthread >"$out/log" 2>&1 ||
        [ -s "$out/log" ]; then
        bad "interop.cu does not compile without warnings"
        return
    fi
    passed=$((passed + 1))
    has_gpu || { skip "interop: compiled, not run: no GPU here"; return; }
    for mode in "rounds ${INTEROP_ROUNDS:-100} gpuexec" \
        "rounds ${INTEROP_ROUNDS:-100} runtime" fault-runtime \
        fault-gpuexec reset; do
        if "$out/interop" $mode >"$out/log" 2>&1; then
            passed=$((passed + 1))
            [ -z "${TEST_VERBOSE:-}" ] || cat "$out/log"
        else
            bad "interop $mode ends with exit code $?"
        fi
    done
}
torch() {
    [ -n "${TEST_ALL:-}" ] || { skip \
        "PyTorch, which takes a minute to start: TEST_ALL=1 runs it"; return; }
    has_gpu || { skip "PyTorch: no GPU here"; return; }
    ${CC:-cc} -std=c99 -O2 -shared -fPIC tests/integration/nvcc/torch_capture.c \
        -o "$out/plugin.so" -ldl -lpthread \
        >"$out/log" 2>&1 ||
        { bad "torch_capture.c does not compile"; return; }
    python3 tests/integration/nvcc/torch_capture.py "$out/plugin.so" >"$out/log" 2>&1
    case $? in
        0)  passed=$((passed + 4)); [ -z "${TEST_VERBOSE:-}" ] || cat "$out/log" ;;
        77) skip "PyTorch: $(tail -n 1 "$out/log")" ;;
        *)  bad "torch_capture.py" ;;
    esac
}
# Two sources, linked in every way.
linked() {
    ${CC:-cc} -std=c99 -O1 tests/integration/nvcc/link_ways.c -o "$out/link_ways" -ldl -lpthread \
        -lm >"$out/log" 2>&1 ||
        { bad "link_ways.c does not compile"; return; }
    ptx='-gencode arch=compute_75,code=compute_75' lto='-gencode arch=compute_75,code=lto_75'
    for part in main curve; do
        echo "-rdc=true -ptx -arch=compute_75 kernels/link_$part.cu -o $out/$part.ptx"
        echo "-rdc=true -fatbin $ptx kernels/link_$part.cu -o $out/$part.fatbin"
        echo "-dc $ptx kernels/link_$part.cu -o $out/$part.o"
        echo "-dc $lto kernels/link_$part.cu -o $out/$part.lto.o"
        echo "-rdc=true -fatbin $lto kernels/link_$part.cu -o $out/$part.lto.fatbin"
        echo "-rdc=true -dlto -ltoir -arch=lto_75 kernels/link_$part.cu -o $out/$part.ltoir"
    done | xargs -P "$(nproc)" -L 1 "$nvcc" >"$out/log" 2>&1 &&
        ar rc "$out/curve.a" "$out/curve.o" &&
        ar rc "$out/curve.lto.a" "$out/curve.lto.o" ||
            { bad "nvcc compiles the two sources"; return; }
    ways='ptx,ptx o,a lto.o,lto.a'
    [ -z "${TEST_ALL:-}" ] ||
        ways="$ways fatbin,fatbin o,o ltoir,ltoir lto.fatbin,lto.fatbin lto.o,lto.o ltoir,ptx"
    for way in $ways; do
        "$out/link_ways" "$out/main.${way%,*}" "$out/curve.${way#*,}" >"$out/bits" 2>"$out/log"
        case $? in
            0)  [ -f "$out/bits.first" ] || cp "$out/bits" "$out/bits.first"
                if cmp -s "$out/bits" "$out/bits.first"; then passed=$((passed + 1))
                else bad "main.${way%,*} and curve.${way#*,} give other results than PTX"; fi ;;
            77) skip "main.${way%,*} and curve.${way#*,}: no nvJitLink on this machine" ;;
            *)  bad "linking main.${way%,*} and curve.${way#*,}" ;;
        esac
    done
}
# The kernels as PTX for several architectures, and as fatbins, in every way that nvcc packs PTX;
# the corpus's PTX as fatbins in every compression mode, which a GPU's driver unpacks, and on a GPU
# as cubins. Each in a folder of its form.
kernels="75 80 90 default several none speed size balance" corpora="default none speed size balance"
! has_gpu || corpora="$corpora cubin"
fatbinary=$(dirname "$nvcc")/fatbinary
prepare() {
    for form in $kernels; do
        mkdir -p "$out/$form/kernels"
        ln -s "$root/tests" "$out/$form/tests"
        cp kernels/*.ptx "$out/$form/kernels/"
        case $form in
            75|80|90) how="-ptx -arch=sm_$form" ;;
            several) how='-fatbin -gencode arch=compute_75,code=[sm_75,compute_75] -gencode
                          arch=compute_90,code=compute_90 -gencode
                          arch=compute_120,code=[sm_120,compute_120]' ;;
            *)
                how="-fatbin -gencode arch=compute_75,code=[sm_75,compute_75] -compress-mode=$form"
                ;;
        esac
        for source in kernels/*.cu; do
            own=$(sed -n 's|^// nvcc: ||p' "$source")
            case $own in *-arch=*) continue ;; esac # needs that architecture: its PTX as it is
            echo $how -fmad=false $own $source -o "$out/$form/kernels/$(basename "$source" .cu).ptx"
        done
    done >"$out/jobs"
    for form in $corpora; do
        folder=$out/corpus_$form
        mkdir -p "$folder/tests/device/corpus/ptx"
        ln -s "$root/kernels" "$folder/kernels"
        ln -s "$root/tests/device/corpus/STATUS" "$folder/tests/device/corpus/STATUS"
        for file in tests/device/corpus/ptx/*.ptx; do
            sm=${file##*.sm_} rdc=
            if [ $form = cubin ]; then
                ! grep -q '__cudaCDP' "$file" || rdc=-rdc=true         # launches kernels: is linked
                echo "-cubin -arch=native $rdc $file -o $folder/$file" >>"$out/jobs"
            else
                "$fatbinary" --create="$folder/$file" -64 --compress-mode=$form \
                    --image3=kind=ptx,sm=${sm%.ptx},file="$file" || return
            fi
        done
    done
    xargs -P "$(nproc)" -L 1 "$nvcc" <"$out/jobs"
}
[ "${NVCC_ONLY:-}" = interop ] || prepare >"$out/prepared" 2>&1 &       # beside what runs meanwhile
interop
linked
torch
wait $! || { failed=$((failed + 1)); echo "failed: nvcc"; cat "$out/prepared"; }
if [ "${NVCC_ONLY:-}" = interop ]; then
    echo "suite nvcc: $passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
fi

# Each in its folder.
{
    for form in $corpora; do echo "$out/corpus_$form $build/unit/corpus"; done
    for form in $kernels; do echo "$out/$form $build/unit/kernels"; done
} | xargs -n 2 sh -c 'cd "$0" && "$1" >"$0.log" 2>&1'
for folder in $kernels $(printf 'corpus_%s ' $corpora); do
    set -- $(tail -n 1 "$out/$folder.log" | sed -n \
        's/^suite [a-z]*: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    case $folder in [0-9]*)
        if grep -q "is higher\|for .target" "$out/$folder.log"; then
            skip "sm_$folder: this device is older"
            continue
        fi ;;
    esac
    [ "${2:-1}" -eq 0 ] || { echo "$folder:"; sed 's/^/    /' "$out/$folder.log"; }
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1})) skipped=$((skipped + ${3:-0}))
done
echo "suite nvcc: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

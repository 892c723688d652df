#!/bin/sh
# The kernels' results once more, from PTX as nvcc writes it for each architecture, not lowered as the committed files are. Needs nvcc on
# PATH (NVCC=... chooses one). The host references of tests/unit/kernels.c judge, on whichever device the tests run on.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
nvcc=$(command -v "${NVCC:-nvcc}") || { echo "  skipped: no nvcc on this machine"; echo "suite nvcc: 0 passed, 0 failed, 1 skipped"; exit 0; }
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=$root/${BUILD:-build} ;; esac
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-nvcc-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
passed=0 failed=0 skipped=0

for sm in 75 80 90; do
    mkdir -p "$out/$sm/kernels"
    ln -s "$root/tests" "$out/$sm/tests"
    cp kernels/faults.ptx "$out/$sm/kernels/"
    for source in kernels/*.cu; do
        own=$(sed -n 's|^// nvcc: ||p' "$source")
        echo "-ptx -arch=sm_$sm -fmad=false $own $source -o $out/$sm/kernels/$(basename "$source" .cu).ptx"
    done
done | xargs -P "$(nproc)" -L 1 "$nvcc" >"$out/log" 2>&1 || { echo "failed: nvcc"; cat "$out/log"; failed=1; }
for sm in 75 80 90; do
    (cd "$out/$sm" && "$build/unit/kernels") >"$out/log" 2>&1
    line=$(tail -n 1 "$out/log")
    set -- $(printf '%s\n' "$line" | sed -n 's/^suite kernels: \([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
    if grep -q "is higher\|for .target" "$out/log"; then echo "  skipped: sm_$sm: this device is older"; skipped=$((skipped + 1)); continue; fi
    [ "${2:-1}" -eq 0 ] || { echo "sm_$sm:"; sed 's/^/    /' "$out/log"; }
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1})) skipped=$((skipped + ${3:-0}))
done
echo "suite nvcc: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

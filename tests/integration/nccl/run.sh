#!/bin/sh
# Runs examples/nccl_allreduce.c: on GPUs with the NCCL that it finds; on the CPU device with a
# library that plays NCCL (play.c), in the places where the example searches, and checks what it
# says without one.
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
passed=0 failed=0 skipped=0
finish() { echo "suite nccl: $passed passed, $failed failed, $skipped skipped"; [ $failed \
    -eq 0 ]; exit; }
skip()   { echo "  skipped: $1"; skipped=$((skipped + 1)); }
. tests/support/device.sh
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-nccl-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
flags="-std=c99 ${SAN_FLAGS:-}"
# shellcheck disable=SC2086
${CC:-cc} $flags -DGPUEXEC_IMPLEMENTED examples/nccl_allreduce.c "$build/implementation.o" \
    -o "$out/example" -ldl \
    -lpthread || exit 1
# says CODE TEXT ENVIRONMENT... ARGUMENTS: the example must exit with the code, and its output must
# match the text
says() {
    code=$1 text=$2
    shift 2
    limited 100 env "$@" >"$out/log" 2>&1 </dev/null
    got=$?
    if [ $got -eq "$code" ] && grep -q "$text" "$out/log"; then passed=$((passed + 1)); return 0; fi
    failed=$((failed + 1))
    echo "failed: $*: exit code $got instead of $code, or no '$text':"
    sed 's/^/    /' "$out/log" | tail -n 20
}
case ${GPUEXEC_DRIVER:-} in
    *libsimgpu*) ;;
    *)  limited 100 "$out/example" >"$out/log" 2>&1
        if [ $? -eq 77 ]; then skip "$(tail -n 2 "$out/log")";
        else says 0 'all sums are correct' "$out/example"; fi
        finish ;;
esac
says 77 "runs only on NVIDIA's driver.*libsimgpu.so" "$out/example"
# With this name the CPU device passes for that driver.
cp "$GPUEXEC_DRIVER" "$out/libcuda.so.1"
export GPUEXEC_DRIVER="$out/libcuda.so.1" SIMGPU_DEVICES=3
wheel=$out/venv/lib/python3.9/site-packages/nvidia/nccl/lib
mkdir -p "$wheel" "$out/venv/bin" "$out/home"
${CC:-cc} $flags -I"$build" -shared -fPIC tests/integration/nccl/play.c -o "$wheel/libnccl.so.2" \
    -ldl || exit 1
size=1048576
says 0 'all sums are correct' "$out/example" "$wheel/libnccl.so.2" $size
says 1 'some sums are WRONG' PLAY_NCCL=wrong "$out/example" "$wheel/libnccl.so.2" $size
says 1 'ncclAllReduce: played error' PLAY_NCCL=fails "$out/example" "$wheel/libnccl.so.2" $size
says 77 '/nowhere.so: .*o such file' "$out/example" /nowhere.so
says 77 'undefined symbol: nccl' "$out/example" "$GPUEXEC_DRIVER"
# The loader's own NCCL, if it has one, is hidden by a damaged one.
mkdir "$out/damaged"
echo damaged >"$out/damaged/libnccl.so.2"
export LD_LIBRARY_PATH="$out/damaged" HOME="$out/home"
says 77 'pip install nvidia-nccl' PATH=/nowhere "$out/example"
says 0 'venv/bin/../lib.*NCCL 2.12.34 on 3 devices' PATH="/nowhere:$out/venv/bin" "$out/example" \
    '' $size
mkdir -p "$out/home/.local"
mv "$out/venv/lib" "$out/home/.local"
says 0 'home/.local/lib.*NCCL 2.12.34 on 3 devices' PATH=/nowhere "$out/example" '' $size
finish

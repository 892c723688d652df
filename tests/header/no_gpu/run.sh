#!/bin/sh
# Machines that have NVIDIA's driver library but no working GPU: driver.c simulates the results of
# cuInit there. For each result, program.c checks all queries about the failure, and an example
# runs, once with GPUEXEC_DRIVER and once as in a container, with libcuda.so.1 in the library path:
# it must end with exit code 1, a text and a cure, never by a signal.
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-no-gpu-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
flags="-O1 -g -Wall -Wextra -Werror -DGPUEXEC_IMPLEMENTED ${SAN_FLAGS:-}"
flags="$flags ${BUILD:-build}/implementation.o"
${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 tests/header/no_gpu/driver.c \
    -o "$out/libcuda.so.1" &&
    ${CC:-cc} -std=c99 tests/header/no_gpu/program.c $flags -o "$out/program" -ldl -lpthread &&
    ${CC:-cc} examples/vector_add.c $flags -o "$out/vector_add" -ldl -lpthread ||
        { echo "suite no_gpu: 0 passed, 1 failed, 0 skipped"; exit 1; }
passed=0 failed=0
bad() {
    failed=$((failed + 1))
    echo "failed: cuInit returns $1: $2"
    sed 's/^/    /' "$out/log" | head -n 30
}

# plays CUINIT RESULT TEXT...: the result, and what the text must contain, the cure last.
plays() {
    export PLAY_CUINIT="$1"
    result=$2
    shift 2
    GPUEXEC_DRIVER="$out/libcuda.so.1" "$out/program" "$result" "$1" > "$out/log" 2>&1
    code=$?
    if [ $code -eq 0 ]; then passed=$((passed + 1));
    else bad "$PLAY_CUINIT" "program.c ends with exit code $code"; fi
    for how in "GPUEXEC_DRIVER=$out/libcuda.so.1" "LD_LIBRARY_PATH=$out"; do
        (unset GPUEXEC_DRIVER; env "$how" "$out/vector_add") > "$out/log" 2>&1
        code=$?
        lacks=
        for text; do grep -q -e "$text" "$out/log" || lacks="$lacks \"$text\""; done
        if [ $code -eq 1 ] && [ -z "$lacks" ]; then passed=$((passed + 1))
        else
            lacks=${lacks:+ and its text lacks$lacks}
            bad "$PLAY_CUINIT" "vector_add with ${how%%=*} ends with exit code $code$lacks"
        fi
    done
}
cpu_device='cure: .*make simgpu'
unset CUDA_VISIBLE_DEVICES
plays 100 22 'finds no GPU' \
    'driver: cuInit returned CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device' "$cpu_device"
export CUDA_VISIBLE_DEVICES=9
plays 100 22 'finds no GPU (CUDA_VISIBLE_DEVICES is "9")' 'cure: .*CUDA_VISIBLE_DEVICES'
plays 101 22 'cuInit failed (CUDA_VISIBLE_DEVICES is "9")' 'CUDA_ERROR_INVALID_DEVICE (101)' \
    'cure: correct or unset CUDA_VISIBLE_DEVICES'
unset CUDA_VISIBLE_DEVICES
plays 3 90 'failed to start: cuInit failed' 'CUDA_ERROR_NOT_INITIALIZED (3)' \
    'cure: load the driver.s kernel modules' \
    "$cpu_device"
plays 35 90 'failed to start: cuInit failed' '(35)' 'cure: update NVIDIA.s driver'
plays 802 90 'failed to start: cuInit failed' 'CUDA_ERROR_SYSTEM_NOT_READY (802)' \
    'cure: .*nvidia-fabricmanager'
plays 803 90 'failed to start: cuInit failed' 'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)' \
    'cure: .*reboot'
plays 804 90 'failed to start: cuInit failed' 'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804)' \
    'cure: .*cuda-compat'
plays 999 90 'failed to start: cuInit failed' 'CUDA_ERROR_UNKNOWN (999)' 'cure: .*nvidia_uvm'
plays 46 90 'failed to start: cuInit failed' '(46)' 'cure: run `nvidia-smi`'
echo "suite no_gpu: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

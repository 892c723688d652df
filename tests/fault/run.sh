#!/bin/sh
# Builds and runs the fault injection, which fault.c describes. On the CPU device it runs a second time as a driver of
# CUDA 11.4, without the slow tests. 7 s on two cores, a minute with sanitizers.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
mkdir -p "$build"
if ! ${CC:-cc} -std=c99 ${CFLAGS:--O2 -g} -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wstrict-prototypes \
    -Wconversion -Wsign-conversion -Wcast-qual -Werror \
    -O1 ${SAN_FLAGS:-} tests/fault/fault.c -o "$build/fault" -ldl -lpthread; then
    echo "suite fault: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
{
    "$build/fault"
    case ${GPUEXEC_DRIVER:-} in
        *libsimgpu*)
            SIMGPU_DRIVER_VERSION=11040 "$build/fault" \
                device context module linker memory copies pool pools managed stream event launch params ipc \
                left_behind refused ;;
    esac
} | awk '/^suite / { passed += $3; failed += $5; skipped += $7; next } { print }
         END { printf "suite fault: %d passed, %d failed, %d skipped\n", passed, failed, skipped
                exit failed > 0 || passed == 0 }'

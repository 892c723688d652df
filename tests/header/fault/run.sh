#!/bin/sh
# Builds and runs the fault injection, which fault.c describes: a sample of the faults; with
# TEST_ALL=1 all of them, and on the CPU device then a second time as a driver of CUDA 11.4, without
# the slow tests (30 s; a minute with sanitizers).
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
mkdir -p "$build"
# the sample runs faster than -O1 compiles
if [ -n "${TEST_ALL:-}" ]; then level=-O1; else level=-O0; fi
played=$build/fault_nvrtc.so played_link=$build/fault_nvjitlink.so
if ! ${CC:-cc} -std=c99 ${SAN_FLAGS:-} -shared -fPIC tests/support/play_nvrtc.c -o "$played" ||
    ! ${CC:-cc} -std=c99 ${SAN_FLAGS:-} -shared -fPIC tests/support/play_nvjitlink.c \
    -o "$played_link" ||
    ! ${CC:-cc} -std=c99 ${CFLAGS:--O2 -g} -Wall -Wextra -Wpedantic -Wshadow -Wundef \
        -Wstrict-prototypes \
    -Wconversion -Wsign-conversion -Wcast-qual -Wno-misleading-indentation -Werror \
    $level ${SAN_FLAGS:-} -I"$build" "-DPLAYED_NVRTC=\"$played\"" \
        "-DPLAYED_NVJITLINK=\"$played_link\"" \
    tests/header/fault/fault.c -o "$build/fault" -ldl -lpthread; then
    echo "suite fault: 0 passed, 1 failed, 0 skipped"
    exit 1
fi
{
    "$build/fault"
    case ${TEST_ALL:+all}${GPUEXEC_DRIVER:-} in
        all*libsimgpu*)
            SIMGPU_DRIVER_VERSION=11040 "$build/fault" \
                device context module library linker memory copies pool pools managed stream event \
                launch params \
                batch ipc left_behind refused ;;
    esac
} | awk '/^suite / { passed += $3; failed += $5; skipped += $7; next } { print }
         END { printf "suite fault: %d passed, %d failed, %d skipped\n", passed, failed, skipped
                exit failed > 0 || passed == 0 }'

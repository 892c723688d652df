#!/bin/sh
# `make bench`: runs the benchmarks $2 ... that were built into $1, one after the other, and says
# which comparisons were not possible. The output is Markdown. On the CPU device they run only
# briefly, to check that they do: the figures mean nothing there.
cd "$(dirname "$0")/../.." || exit 1
build=$1
shift
. tests/support/device.sh
echo "$(date -u +%Y-%m-%d), $(uname -sm), $(
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(
    ${CC:-cc} --version | head -n 1)"
sed -n 's/^NVRM version: */driver: /p' /proc/driver/nvidia/version 2>/dev/null

# The runtime API's side, if nvcc is available (NVCC=... chooses one).
nvcc=$(command -v "${NVCC:-nvcc}") || nvcc=$(command -v /usr/local/cuda/bin/nvcc)
library= program=
if [ -n "$nvcc" ]; then
    library=$build/bench/runtime.so program=$build/bench/start_runtime
    "$nvcc" -O2 -arch=native -shared -Xcompiler -fPIC tests/bench/runtime.cu -o "$library" ||
        library=
    "$nvcc" -O2 -arch=native tests/bench/start_runtime.cu -o "$program" || program=
    "$nvcc" --version | sed -n 's/.*release \(.*\)/nvcc: \1/p'
fi
status=0
for name; do
    case $name in
        */launch) set -- ${library:+"$library"} ;;
        */start)  set -- ${program:+"$program"} ;;
        *)        set -- ;;
    esac
    limited 300 "$name" "$@" || { echo "$name failed with exit code $?"; status=1; }
done
exit $status

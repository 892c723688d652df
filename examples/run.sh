#!/bin/sh
# Runs the examples that `make run` built in $1. They run in that directory, so they write their pictures there. Fails
# if one of them fails.
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
. tests/device.sh
status=0
for program; do
    echo
    echo "--- $(basename "$program")"
    case $program in /*) ;; *) program=$PWD/$program ;; esac
    (cd "$build" && limited 300 "$program" < /dev/null) || { echo "$program failed with exit code $?"; status=1; }
done
echo
[ $status -ne 0 ] ||
    echo "all examples ran with correct results; pictures in $build: mandelbrot.png, volume.png, jacobi.svg, pools.svg"
exit $status

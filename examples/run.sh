#!/bin/sh
# Runs the examples that `make run` has built into $1, from there, so that what they write lies there too. Fails if one
# of them does.
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
    echo "all examples ran and their results were right; the pictures are $build/mandelbrot.png and $build/jacobi.svg"
exit $status

#!/bin/sh
# Runs the examples that `make run` built in $1. They run in that directory, so they write their pictures there. Fails
# if one of them fails. One that exits with 77 lacks something that the machine need not have, and says what.
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
. tests/device.sh
# not the user's cache
GPUEXEC_CACHE=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-examples-XXXXXX") || exit 1
export GPUEXEC_CACHE
trap 'rm -rf "$GPUEXEC_CACHE"' EXIT
status=0 skipped=
for program; do
    echo
    echo "--- $(basename "$program")"
    case $program in /*) ;; *) program=$PWD/$program ;; esac
    (cd "$build" && limited 300 "$program" < /dev/null)
    code=$?
    case $code in
        0)  ;;
        77) skipped="$skipped $(basename "$program")" ;;
        *)  echo "$program failed with exit code $code"
            status=1 ;;
    esac
done
echo
[ -z "$skipped" ] || echo "skipped:$skipped"
[ $status -ne 0 ] ||
    echo "all examples ran with correct results; pictures in $build: mandelbrot.png, volume.png," \
        "jacobi.svg, cg.svg, pools.svg, batch.svg"
exit $status

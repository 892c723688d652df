#!/bin/sh
# Runs the examples that `make run` built in $1. They run in that directory, so they write their
# pictures there. Fails if one of them fails. One that exits with 77 lacks something that the
# machine need not have, and says what.
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
. tests/support/device.sh
# not the user's cache
work=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-examples-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
export GPUEXEC_CACHE="$work/cache"
mkdir "$GPUEXEC_CACHE" || exit 1
status=0 skipped= waiting= started=
# Some run at the same time: on a GPU most of their time goes into starting CUDA.
at_once=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
[ "$at_once" -lt 4 ] || at_once=4
keep_gpu "$work"
show() { # NAME...: what they printed, in this order
    [ -z "$started" ] || wait $started
    started=
    for name; do
        echo
        echo "--- $name"
        cat "$work/$name.said"
        code=$(cat "$work/$name.code")
        case $code in
            0)  ;;
            77) skipped="$skipped $name" ;;
            *)  echo "$name failed with exit code $code"
                status=1 ;;
        esac
    done
}
for program; do
    name=$(basename "$program")
    case $program in /*) ;; *) program=$PWD/$program ;; esac
    {
        (cd "$build" && limited 300 "$program" < /dev/null > "$work/$name.said" 2>&1)
        echo $? > "$work/$name.code"
    } 3>&- &
    started="$started $!"
    waiting="$waiting $name"
    [ "$(echo $waiting | wc -w)" -lt "$at_once" ] || {
        show $waiting
        waiting=
    }
done
show $waiting
release_gpu
echo
[ -z "$skipped" ] || echo "skipped:$skipped"
[ $status -ne 0 ] ||
    echo "all examples ran with correct results; pictures in $build: mandelbrot.png, volume.png," \
        "image_filter.png, jacobi.svg, cg.svg, pools.svg, batch.svg"
exit $status

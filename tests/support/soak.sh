#!/bin/sh
# Runs every suite many times under conditions that a continuous integration does not have time for,
#   on the CPU device. sh tests/support/soak.sh MODE N [SUITE...]
#     load       N times, three at a time on each processor
#     freezer    N times, each under build/freezer (tests/support/freezer.c) with another seed
#     tsan       N times with the thread sanitizer (SAN=thread); only the unit suites
#     schedules  with the thread sanitizer, SIMGPU_LAZY=1 and SIMGPU_SCHEDULE=1 to N; only the unit
#         suites
# Builds what it needs. Prints a line for each run that fails, and keeps its output in build/soak;
# the last line is the mode's summary. In the environment, SOAK_JOBS says how many run at a time,
# and with SOAK_SECONDS=150 no run begins later than that: the summary says how many did not. The
# suites: those of tests/*/unit, and the scripts that run the library more than they compile.
cd "$(dirname "$0")/../.." || exit 1
mode=$1 times=$2
export GPUEXEC_CACHE=0 SIMGPU_DEVICES="${SIMGPU_DEVICES:-2}"

# soak.sh MODE one SUITE ROUND: this script calls itself in this way for one run.
if [ "$times" = one ]; then
    [ -z "${SOAK_UNTIL:-}" ] || [ "$(date +%s)" -lt "$SOAK_UNTIL" ] || { echo "not run"; exit 0; }
    suite=$3 round=$4 out=$PWD/build/soak/$mode.$3.$4
    case $mode in
        tsan|schedules) export BUILD=build/tsan ;;
        *)              export BUILD=build ;;
    esac
    export GPUEXEC_DRIVER="$PWD/$BUILD/libsimgpu.so" ANSWERS="$out.answers"
    [ $mode != schedules ] || export SIMGPU_LAZY=1 SIMGPU_SCHEDULE="$round"
    set -- tests/*/"$suite"/run.sh
    if [ -f "$1" ]; then set -- sh "$1"; else set -- "$BUILD/unit/$suite"; fi
    [ $mode != freezer ] || set -- build/freezer "$round" "$@"
    TEST_TIMEOUT=600 timeout -k 5 1200 "$@" > "$out.txt" 2>&1 < /dev/null
    code=$?
    rm -f "$out.answers"
    if [ $code -eq 0 ]; then
        rm "$out.txt"
        echo passed
    else
        echo "failed: $suite, round $round: exit code $code: build/soak/$mode.$suite.$round.txt"
    fi
    exit 0
fi

cores=$(nproc)
case $mode in
    load)      at_once=$((3 * cores)) target='all fuzzers' \
        scripts='forms fuzz no_gpu probe random readme topology' ;;
    freezer)   at_once=$((4 * cores)) target='all fuzzers' \
        scripts='forms fuzz no_gpu probe random readme topology' ;;
    tsan|schedules) at_once=$cores target='simgpu tests' scripts= ;;
    *)         sed -n '2,/^cd/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
shift 2
case $mode in tsan|schedules) san='SAN=thread CC=gcc' ;; *) san= ;; esac
at_once=${SOAK_JOBS:-$at_once}
mkdir -p build/soak
make $target build/freezer $san > build/soak/make.txt 2>&1 ||
    { tail -n 20 build/soak/make.txt; exit 1; }
rm -f "build/soak/$mode".*
[ $# -gt 0 ] || set -- $scripts $(ls tests/*/unit/*.c | sed 's|.*/||; s/\.c$//')
begin=$(date +%s)
[ -z "${SOAK_SECONDS:-}" ] || export SOAK_UNTIL=$((begin + SOAK_SECONDS))
for round in $(seq "$times"); do for suite; do echo "$suite $round"; done; done |
    xargs -n 2 -P $at_once sh tests/support/soak.sh "$mode" one > "build/soak/$mode.runs"
grep '^failed' "build/soak/$mode.runs"
count() { grep -c "^$1" "build/soak/$mode.runs"; }
failed=$(count failed)
echo "$mode: $(count passed) passed, $failed failed, $(count 'not run') not run," \
    "$(($(date +%s) - begin)) s"
[ "$failed" -eq 0 ]

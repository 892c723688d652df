#!/bin/sh
# Runs every test suite from the repository's root: the programs of tests/*/unit, built in $1/unit,
# and the scripts tests/*/*/run.sh. The last line of a suite's output is
# `suite NAME: N passed, N failed, N skipped`; the last line of this script is the total. The output
# of a suite that fails is shown; a suite that crashes, hangs or does not reach its last line counts
# as one failure.
#   TEST_SCRIPTS="cost fault" in the environment: runs only these scripts
#   TEST_ALL=1: also what takes long; by default, only a sample of that runs (faults, nvcc, random
#   programs), and on GPUs not what they add nothing to: compilers, texts, injected faults, and what
#   the CPU device is compared with
#   check.sh BUILD NAME...: runs only these suites
#
# Suites run in parallel, those that take longest first: on the CPU device as many as there are
# processors; on GPUs two, because their contexts take turns (on an H200, three and four at a time
# took longer). Scripts that mostly compile run at the same time. On GPUs the suites of several
# devices run last, one at a time.
cd "$(dirname "$0")/.." || exit 1

# suite BUILD NAME: this script calls itself in this way to run one suite.
if [ "$1" = suite ]; then
    build=$2 name=$3 log=$build/logs/$3.txt begin=$(date +%s)
    limited() { "$@"; }
    ! command -v timeout >/dev/null 2>&1 || limited() { timeout -k 5 600 "$@"; }
    for place in ${TEST_PLACES:-}; do ! mkdir "$build/logs/place.$place" 2>/dev/null || break; done
    [ -z "${place:-}" ] || export TEST_DEVICE="${place%.*}"
    case $name in
        random|readme) [ -z "${TEST_DEVICE:-}" ] || export CUDA_VISIBLE_DEVICES="$TEST_DEVICE" ;;
        # as for h200.txt
        probe)         [ -z "${TEST_TWO:-}" ] || export CUDA_VISIBLE_DEVICES="$TEST_TWO" ;;
    esac
    set -- tests/*/"$name"/run.sh
    if [ -f "$1" ]; then set -- sh "$1"; else set -- "$build/unit/$name"; fi
    limited "$@" > "$log" 2>&1 < /dev/null
    code=$?
    [ -z "${place:-}" ] || rmdir "$build/logs/place.$place"
    line=$(tail -n 1 "$log")
    n='\([0-9][0-9]*\)'
    counts=$(printf '%s\n' "$line" |
        sed -n "s/^suite [^:]*: $n passed, $n failed, $n skipped\$/\\1 \\2 \\3/p")
    set -- ${counts:-0 0 0}
    p=$1 f=$2 s=$3
    if [ -z "$counts" ] || { [ $code -ne 0 ] && [ "$f" -eq 0 ]; }; then
        f=$((f + 1))
        slow=$([ $code -ne 124 ] || echo ' (too slow)')
        line="suite $name: ended with exit code $code$slow${line:+ after: $line}"
    fi
    echo "$p $f $s" > "$build/logs/$name.counts"
    said=$(
        if [ "$f" -gt 0 ]; then sed '$!s/^/    /;$d' "$log"
        elif [ "$s" -gt 0 ]; then grep -i '^ *skip' "$log"
        fi)
    printf '%s%s (%d s)\n' "${said:+$said
}" "$line" $(($(date +%s) - begin))
    exit 0
fi

build=$1
shift
export GPUEXEC_CACHE=0                        # no test uses the user's cache
. tests/support/device.sh
mkdir -p "$build/logs"
rm -rf "$build"/logs/*.counts "$build"/logs/place.*
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

named=${1:+named }                            # suites that are named run in any case
if [ $# -eq 0 ]; then
    for script in tests/*/*/run.sh; do
        name=$(basename "$(dirname "$script")")
        case " ${TEST_SCRIPTS-$name} " in *" $name "*) set -- "$@" "$name" ;; esac
    done
    for source in tests/*/unit/*.c; do set -- "$@" "$(basename "$source" .c)"; done
fi
longest="nvcc compile probe multi fault cost mpi cache readme ipc wrong_input threads context"
longest="$longest forms abi pool"
among() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac; }
wanted=" $* "
set -- $(for name in $longest; do ! among "$name" "$wanted" || echo "$name"; done
         for name; do among "$name" "$longest" || echo "$name"; done)

run() { # HOW_MANY_AT_ONCE NAME...
    at_once=$1
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@" | xargs -n 1 -P "$at_once" sh tests/check.sh suite "$build"
}
if [ -n "$gpus" ]; then
    compile= alone= others=
    for name; do
        case ${TEST_ALL:-$named}$name in
            abi|compile|contents|fault|forms|fuzz|kernels_raw|layers|probe)
                said="  skipped: $name: does not depend on the GPU; TEST_ALL=1 runs it"
                printf '%s\nsuite %s: 0 passed, 0 failed, 1 skipped\n' "$said" "$name"
                echo 0 0 1 > "$build/logs/$name.counts"
                continue ;;
        esac
        case $name in
            abi|compile|contents|cost|fuzz|layers|no_gpu|nvcc|page|readme)
                compile="$compile $name" ;;
            multi|multi_device) alone="$alone $name" ;;
            *) others="$others $name" ;;
        esac
    done
    devices=$(echo "${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((gpus - 1)))}" | tr ',' ' ')
    keep_gpu "$build/logs"
    TEST_DEVICE=${devices%% *} run "$cores" $compile &
    TEST_PLACES=$(for place in 1 2; do for device in $devices; do echo "$device.$place"; done; done)
    TEST_TWO=$(echo "$devices" | cut -d' ' -f1,2 | tr ' ' ',')
    export TEST_PLACES TEST_TWO
    run 2 $others
    unset TEST_PLACES
    run 1 $alone
    release_gpu
    wait
else
    run "$cores" "$@"
fi

passed=0 failed=0 skipped=0
for name; do
    read -r p f s < "$build/logs/$name.counts" || { echo "suite $name did not run"; p=0 f=1 s=0; }
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

#!/bin/sh
# Counts with callgrind how many instructions gpuexec adds to the driver's calls, over a driver that
# does nothing: for a launch with four arguments (at most 150 for gpuexec_launch with
# gpuexec_grid_for, also on GPUEXEC_CURRENT, in C99 and in C11; with clang 175, half of it on the
# caller's side), a prepared one, a record, a wait, queries, copies, a fill, events, a stream scope,
# a graph, a node of a graph and a change of one of its arguments, a batch and a change of an
# argument, an allocation and its free in stream order, at the same address again, and at another
# one each time. Compares calls among 10 and among 10,000 graphs, objects, nodes and files of the
# cache. Also measures the time for a million allocations and ten thousand objects, how the CPU
# device loads large texts, and what stays behind when objects of all kinds come and go, in gpuexec
# and in the CPU device alone (COST_CYCLES=1000000: a million times, in ten minutes). With
# COST_COMPILE="-O0 -O2" it only counts how many million instructions the compiler needs for a file
# that includes gpuexec.h, compared with an empty one, and for the implementation; compile.sh
# measures both in time.
cd "$(dirname "$0")" || exit 1
skip() { echo "  skipped: $1"; echo "suite cost: 0 passed, 0 failed, 1 skipped"; exit 0; }
command -v valgrind >/dev/null 2>&1 || skip "no valgrind on this machine"
[ -z "${SAN_FLAGS:-}" ] || skip "sanitizers add instructions"
[ "$(uname -m)" = x86_64 ] || skip "the limits are for x86-64"
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-cost-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
fail() { echo "failed: $1"; echo "suite cost: 0 passed, 1 failed, 0 skipped"; exit 1; }
passed=0 failed=0
compiler() { # LANGUAGE COMMAND...: millions of instructions for the text on standard input
    file=$out/file.$1; shift
    cat >"$file"
    valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null \
        "$@" -I../../.. -fsyntax-only "$file" 2>&1 |
        sed -n 's/.*Collected : //p' | awk '{ n += $1 } END { printf "%d", n / 1e6 }'
}
# The instructions for each byte of the header without its comments. valgrind takes a minute at -O0,
# four at -O2.
implementation() { # LEVEL MOST
    took=$(valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null ${CC:-cc} \
        -std=c99 "$1" \
        -I../../.. -DGPUEXEC_IMPLEMENTATION -x c -c ../../../gpuexec.h \
            -o "$out/implementation.o" 2>&1 |
        sed -n 's/.*Collected : //p' | awk '{ n += $1 } END { printf "%d", n / 1e6 }')
    most=$(($2 * $(${CC:-cc} -fpreprocessed -dD -E -P -x c ../../../gpuexec.h 2>/dev/null |
        wc -c) / 1000000))
    echo "compiling the implementation at $1: $took million instructions, at most $most"
    if [ "$took" -gt 0 ] && [ "$took" -le "$most" ]; then passed=$((passed + 1));
    else failed=$((failed + 1)); fi
}
bytes=$(wc -c < ../../../gpuexec.h)
# LANGUAGE INSTRUCTIONS_PER_BYTE COMMAND...: the compiler reads all of it, also what it skips
include() {
    language=$1 limit=$(($2 * bytes / 1000000)); shift 2
    more=$(($(echo '#include "gpuexec.h"' |
        compiler "$language" "$@") - $(compiler "$language" "$@" </dev/null)))
    echo "including gpuexec.h, $*: $more million instructions, at most $limit"
    if [ $more -gt 0 ] && [ $more -le "$limit" ]; then passed=$((passed + 1));
    else failed=$((failed + 1)); fi
}
if [ -n "${COST_COMPILE:-}" ]; then
    if ! ${CC:-cc} --version | grep -q clang; then
        for level in $COST_COMPILE; do implementation "$level" \
            "$([ "$level" = -O0 ] && echo 8900 || echo 35400)"; done
    fi
    include c 101 ${CC:-cc} -std=c99
    ! ${CXX:-c++} --version >/dev/null 2>&1 || include cc 126 ${CXX:-c++} -std=c++11
    echo "suite cost: $passed passed, $failed failed, 0 skipped"
    [ $failed -eq 0 ]
    exit
fi

${CC:-cc} -O2 -shared -fPIC driver.c -o "$out/driver.so" &&
    ${CC:-cc} -std=c99 -O2 launches.c -o "$out/launches" -ldl -lpthread ||
    fail "it does not compile"
export GPUEXEC_DRIVER="$out/driver.so"
"$out/launches" all 1 || fail "it does not run"

count_calls() {
    valgrind --tool=callgrind --callgrind-out-file="$out/counts" \
        "$out/launches" all 10000 >"$out/said" 2>&1 &&
        callgrind_annotate --inclusive=yes --threshold=100 "$out/counts" >"$out/functions" ||
        fail "valgrind does not run it"
}
count_calls
# each KIND: the instructions of one, from a line such as
# " 1,234 (5.6%)  launches.c:do_KIND [/tmp/launches]"
each() {
    echo $(( $(sed -n "s/^ *\([0-9,]*\) .*:do_$1 .*/\1/p" "$out/functions" | tr -d ,) / 10000 ))
}
check() { # WHAT RAW MOST: what gpuexec adds to the driver's calls
    raw=$(each "$2")
    more=$(( $(each "$1") - raw ))
    echo "$1: $more instructions more than $2 ($raw with the loop), at most $3"
    if [ "$raw" -gt 0 ] && [ "$more" -gt 0 ] && [ "$more" -le "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}
if ${CC:-cc} --version | grep -q clang; then clang=25; else clang=0; fi
check launch raw_launch $((150 + clang))
check prepared raw_launch $((34 + clang / 5))
check current raw_launch $((150 + clang))
check record raw_record $((60 + clang))
check wait raw_wait $((60 + clang))
for call in query idle; do check $call raw_query $((75 + clang)); done
for call in sync event_sync; do check $call raw_sync $((75 + clang)); done
for call in in out; do check $call raw_in $((490 + 2 * clang)); done
check copy raw_in $((290 + 2 * clang))
check fill raw_in $((260 + 2 * clang))
check event raw_event $((1440 + 4 * clang))
check point raw_event $((1570 + 4 * clang))
check scope raw_both $((120 + 2 * clang))
check wait_stream raw_both $((100 + clang))
# Two places are compared by strcmp, which takes up to 15 instructions more if the linker puts them
# elsewhere.
check again raw_again $((240 + 2 * clang))
check pooled raw_again $((245 + 2 * clang))
check cached raw_again $((600 + 2 * clang))
check alloc raw_alloc $((1350 + 2 * clang))
check graph raw_graph $((70 + clang))
check node raw_node $((1100 + 2 * clang))
check argument raw_argument $((1045 + 2 * clang))
check batch raw_graph $((80 + clang))
check set raw_graph $((90 + clang))
# From C11 on, GPUEXEC_ARGS passes types, which are also compared.
${CC:-cc} -std=c11 -O2 launches.c -o "$out/launches" -ldl -lpthread ||
    fail "it does not compile as C11"
count_calls
check launch raw_launch $((150 + clang))
check current raw_launch $((150 + clang))
check node raw_node $((1100 + 2 * clang))

# Calls among 10 and among 10,000 graphs, slots, or nodes of one graph: at most 1.5 times the
# instructions.
${CC:-cc} -std=c99 -O2 growth.c -o "$out/growth" -ldl -lpthread || fail "growth.c does not compile"
for kind in graphs slots nodes; do
    valgrind --tool=callgrind --callgrind-out-file="$out/grown" "$out/growth" \
        $kind >"$out/said" 2>&1 &&
        callgrind_annotate --inclusive=yes --threshold=100 "$out/grown" >"$out/growing" ||
        fail "valgrind does not run growth $kind"
    for call in free alloc_on alloc_other capture graph change; do
        few=$(sed -n "s/^ *\([0-9,]*\) .*:few_$call .*/\1/p" "$out/growing" | tr -d ,)
        many=$(sed -n "s/^ *\([0-9,]*\) .*:many_$call .*/\1/p" "$out/growing" | tr -d ,)
        echo "$call among 10000 $kind: ${many:-0} instructions," \
            "among 10: ${few:-0}; at most 1.5 times as many"
        if [ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] &&
            [ $((2 * many)) -le $((3 * few)) ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
done

# Many objects: each must take a time that does not grow with how many there are.
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=../../../${BUILD:-build} ;; esac
${CC:-cc} -std=c99 -O2 -DGPUEXEC_IMPLEMENTED objects.c "$build/implementation.o" -o "$out/objects" \
    -ldl -lpthread ||
    fail "objects.c does not compile"
set -- $("$out/objects")
for what in "freed: $2" "closed: $3"; do
    echo "a million allocations ${what%:*} in ${what#*: } ms, at most 2000 (created in $1)"
    if [ "${what#*: }" -le 2000 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
# A scan of all of them would take several times as long; caches alone have made it 130 % on a busy
# machine.
echo "a module loaded and unloaded among 10000 objects: $4 % of the time among 10, at most 200"
if [ "$4" -le 200 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

# The same on the CPU device, ten times as many. A table that each call scans would take a hundred
# times as long; data that does not fit into the caches takes 15 to 20 times as long.
${CC:-cc} -std=c99 -O2 -I"$build" simgpu_objects.c -o "$out/simgpu_objects" -ldl ||
    fail "simgpu_objects.c does not compile"
said=$("$out/simgpu_objects" "$build/libsimgpu.so") || fail "simgpu_objects.c does not run"
set -- $said
for what in "freed: $2 $5" "freed with their context: $3 $6"; do
    set -- ${what##*: }
    echo "a million allocations of the CPU device ${what%:*} in $2 ms," \
        "at most 5000; a hundred thousand in $1"
    if [ "$2" -le 5000 ] && [ "$2" -le $((40 * $1)) ]; then passed=$((passed + 1));
    else failed=$((failed + 1)); fi
done

# Writing an entry of the cache, into a folder with 10 and with 10,000 files: with room, and at its
# limit. A write that reads the whole folder takes 500 times as long.
${CC:-cc} -std=c99 -D_GNU_SOURCE -O2 cache.c -o "$out/cache" -ldl -lpthread ||
    fail "cache.c does not compile"
write_cost() { # FILES WRITES [full]: instructions for each
    rm -rf "$out/entries"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=do_writes \
        "$out/cache" "$out/entries" \
        "$@" 2>&1 | awk -v n="$2" '/Collected :/ { printf "%d", $NF / n }'
}
for full in "" full; do
    few=$(write_cost 10 400 $full) many=$(write_cost 10000 \
        "$([ "$full" ] && echo 2500 || echo 400)" $full)
    echo "a cache write${full:+ at the limit}: $many instructions among 10000 files," \
        "$few among 10; at most 1.5 times"
    if [ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] && [ $((2 * many)) -le $((3 * few)) ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done

# Objects of the CPU device that are created and destroyed again and again: memory and time stay the
# same. A destroyed context keeps 460 bytes until a thousand others are destroyed.
${CC:-cc} -std=c99 -O2 -I"$build" simgpu_cycles.c -o "$out/simgpu_cycles" -ldl ||
    fail "simgpu_cycles.c does not compile"
"$out/simgpu_cycles" "$build/libsimgpu.so" "${COST_CYCLES:-50000}" >"$out/cycles" ||
    fail "simgpu_cycles.c does not run"
while read -r what n kib percent us; do
    echo "$n times $what: $kib KiB more, at most 512; $us us each," \
        "$percent % of the first ones, at most 400"
    if [ "$kib" -le 512 ] && [ "$percent" -le 400 ]; then passed=$((passed + 1));
    else failed=$((failed + 1)); fi
done <"$out/cycles"

# Loading a text on the CPU device: time and memory in proportion to its kernels, functions, labels,
# ...
${CC:-cc} -std=c99 -O2 -I"$build" simgpu_loading.c -o "$out/simgpu_loading" -ldl ||
    fail "simgpu_loading.c does not compile"
"$out/simgpu_loading" "$build/libsimgpu.so" 10000 >"$out/loading" ||
    fail "simgpu_loading.c does not run"
while read -r what n ms kib ms_2 kib_2; do
    echo "loading $n $what: $ms ms, $kib KiB;" \
        "twice as many: $ms_2 ms, $kib_2 KiB, at most 2.5 times that"
    if echo "$ms $kib $ms_2 $kib_2" |
        awk '{ exit !($3 <= 2.5 * $1 + 5 && $4 <= 2.5 * $2 + 2048 && $3 <= 3000) }'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done <"$out/loading"

# Objects that come and go: nothing may stay behind, and the last ones must not take longer than the
# first.
${CC:-cc} -std=c99 -O2 -DGPUEXEC_IMPLEMENTED cycles.c "$build/implementation.o" -o "$out/cycles" \
    -ldl -lpthread ||
    fail "cycles.c does not compile"
if said=$(GPUEXEC_DRIVER=$build/libsimgpu.so SIMGPU_DEVICES=2 "$out/cycles" ${COST_CYCLES:-}); then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "$said" | grep GROWS || echo "$said" | tail -4
fi
kinds=$(echo "$said" | grep -vc GROWS)
echo "$kinds kinds of objects created and destroyed," \
    "${COST_CYCLES:-5000} times each, or, if expensive, fewer"

echo "suite cost: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

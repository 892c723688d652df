#!/bin/sh
# Counts with callgrind how many instructions gpuexec adds to the driver's calls, over a driver that does nothing: for a
# launch with four arguments (at most 160 for gpuexec_launch with gpuexec_grid_for, also on GPUEXEC_CURRENT; with clang
# 185, half of it on the caller's side), a prepared one, a record, a wait, a stream scope, a graph, a node of a graph
# and a change of one of its arguments, a batch and a change of an argument, an allocation and its free in stream order,
# at the same address again, and at another one each time. Also measures the time for a million allocations and ten
# thousand objects. With COST_COMPILE="-O0 -O2", counts how many million instructions the compiler needs for a file that
# includes gpuexec.h, compared with an empty one, and for the implementation; compile.sh measures both in time.
cd "$(dirname "$0")" || exit 1
skip() { echo "  skipped: $1"; echo "suite cost: 0 passed, 0 failed, 1 skipped"; exit 0; }
command -v valgrind >/dev/null 2>&1 || skip "no valgrind on this machine"
[ -z "${SAN_FLAGS:-}" ] || skip "sanitizers add instructions"
[ "$(uname -m)" = x86_64 ] || skip "the limits are for x86-64"
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-cost-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
fail() { echo "failed: $1"; echo "suite cost: 0 passed, 1 failed, 0 skipped"; exit 1; }
${CC:-cc} -O2 -shared -fPIC driver.c -o "$out/driver.so" &&
    ${CC:-cc} -std=c99 -O2 launches.c -o "$out/launches" -ldl -lpthread || fail "it does not compile"
export GPUEXEC_DRIVER="$out/driver.so"
"$out/launches" all 1 || fail "it does not run"

valgrind --tool=callgrind --callgrind-out-file="$out/counts" "$out/launches" all 10000 >"$out/said" 2>&1 &&
    callgrind_annotate --inclusive=yes --threshold=100 "$out/counts" >"$out/functions" ||
    fail "valgrind does not run it"
each() { # KIND: the instructions of one, from a line such as " 1,234 (5.6%)  launches.c:do_KIND [/tmp/launches]"
    echo $(( $(sed -n "s/^ *\([0-9,]*\) .*:do_$1 .*/\1/p" "$out/functions" | tr -d ,) / 10000 ))
}
passed=0 failed=0
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
check launch raw_launch $((160 + clang))
check prepared raw_launch 40
check current raw_launch $((160 + clang))
check record raw_record $((60 + clang))
check wait raw_wait $((60 + clang))
check scope raw_both $((120 + 2 * clang))
check wait_stream raw_both $((100 + clang))
check again raw_again $((215 + 2 * clang))
check pooled raw_again $((220 + 2 * clang))
check alloc raw_alloc $((1350 + 2 * clang))
check graph raw_graph $((70 + clang))
check node raw_node $((1080 + 2 * clang))
check argument raw_argument $((1020 + 2 * clang))
check batch raw_graph $((80 + clang))
check set raw_graph $((90 + clang))

# Many objects: each must take a time that does not grow with how many there are.
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=../../${BUILD:-build} ;; esac
${CC:-cc} -std=c99 -O2 -DGPUEXEC_IMPLEMENTED objects.c "$build/implementation.o" -o "$out/objects" -ldl -lpthread ||
    fail "objects.c does not compile"
set -- $("$out/objects")
for what in "freed: $2" "closed: $3"; do
    echo "a million allocations ${what%:*} in ${what#*: } ms, at most 2000 (created in $1)"
    if [ "${what#*: }" -le 2000 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
# A scan of all of them would take several times as long; caches alone have made it 130 % on a busy machine.
echo "a module loaded and unloaded among 10000 objects: $4 % of the time among 10, at most 200"
if [ "$4" -le 200 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

# The same on the CPU device, ten times as many. A table that each call scans would take a hundred times as long; data
# that does not fit into the caches takes 15 to 20 times as long.
${CC:-cc} -std=c99 -O2 simgpu_objects.c -o "$out/simgpu_objects" -ldl || fail "simgpu_objects.c does not compile"
said=$("$out/simgpu_objects" "$build/libsimgpu.so") || fail "simgpu_objects.c does not run"
set -- $said
for what in "freed: $2 $5" "freed with their context: $3 $6"; do
    set -- ${what##*: }
    echo "a million allocations of the CPU device ${what%:*} in $2 ms, at most 5000; a hundred thousand in $1"
    if [ "$2" -le 5000 ] && [ "$2" -le $((40 * $1)) ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done

compiler() { # LANGUAGE COMMAND...: millions of instructions for the text on standard input
    file=$out/file.$1; shift
    cat >"$file"
    valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null \
        "$@" -I../.. -fsyntax-only "$file" 2>&1 |
        sed -n 's/.*Collected : //p' | awk '{ n += $1 } END { printf "%d", n / 1e6 }'
}
# The instructions for each byte of the header without its comments. valgrind takes a minute at -O0, four at -O2.
implementation() { # LEVEL MOST
    took=$(valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null ${CC:-cc} -std=c99 "$1" \
        -I../.. -DGPUEXEC_IMPLEMENTATION -x c -c ../../gpuexec.h -o "$out/implementation.o" 2>&1 |
        sed -n 's/.*Collected : //p' | awk '{ n += $1 } END { printf "%d", n / 1e6 }')
    most=$(($2 * $(${CC:-cc} -fpreprocessed -dD -E -P -x c ../../gpuexec.h 2>/dev/null | wc -c) / 1000000))
    echo "compiling the implementation at $1: $took million instructions, at most $most"
    if [ "$took" -gt 0 ] && [ "$took" -le "$most" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
if ! ${CC:-cc} --version | grep -q clang; then
    for level in ${COST_COMPILE:-}; do implementation "$level" "$([ "$level" = -O0 ] && echo 9000 || echo 32500)"; done
fi
bytes=$(wc -c < ../../gpuexec.h)
include() { # LANGUAGE INSTRUCTIONS_PER_BYTE COMMAND...: the compiler reads all of it, also what it skips
    language=$1 limit=$(($2 * bytes / 1000000)); shift 2
    more=$(($(echo '#include "gpuexec.h"' | compiler "$language" "$@") - $(compiler "$language" "$@" </dev/null)))
    echo "including gpuexec.h, $*: $more million instructions, at most $limit"
    if [ $more -gt 0 ] && [ $more -le "$limit" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
if [ -n "${COST_COMPILE:-}" ]; then
    include c 101 ${CC:-cc} -std=c99
    ! ${CXX:-c++} --version >/dev/null 2>&1 || include cc 126 ${CXX:-c++} -std=c++11
fi
echo "suite cost: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

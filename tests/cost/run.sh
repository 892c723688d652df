#!/bin/sh
# Counts with callgrind how many instructions gpuexec adds to the driver's calls, over a driver that does nothing: for a
# launch with four arguments (at most 160 for gpuexec_launch with gpuexec_grid_for; with clang 185, half of it on the
# caller's side), a prepared one, a record, a wait, a stream scope, a graph, an allocation and its free in stream order,
# at the same address again, and at another one each time (mostly the table of allocations). Also measures the time for
# a million allocations and ten thousand objects, and counts how many million instructions the compiler needs for a file
# that includes gpuexec.h, compared with an empty one. compile.sh measures both in time.
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
"$out/launches" launch 1 || fail "it does not run"

count() { # KIND N: instructions of the whole program
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$out/launches" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
each() { echo $(( ($(count "$1" 11000) - $(count "$1" 1000)) / 10000 )); }     # of one
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
check current raw_launch $((400 + clang))
check record raw_record $((60 + clang))
check wait raw_wait $((60 + clang))
check scope raw_both $((120 + 2 * clang))
check wait_stream raw_both $((100 + clang))
check again raw_again $((350 + 2 * clang))
check alloc raw_alloc $((1350 + 2 * clang))
check graph raw_graph $((70 + clang))

# Many objects: each must take a time that does not grow with how many there are.
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=../../${BUILD:-build} ;; esac
${CC:-cc} -std=c99 -O2 -DGPUEXEC_IMPLEMENTED objects.c "$build/implementation.o" -o "$out/objects" -ldl -lpthread ||
    fail "objects.c does not compile"
set -- $("$out/objects")
for what in "freed: $2" "closed: $3"; do
    echo "a million allocations ${what%:*} in ${what#*: } ms, at most 2000 (created in $1)"
    if [ "${what#*: }" -le 2000 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "a module loaded and unloaded among 10000 objects: $4 % of the time among 10, at most 120"
if [ "$4" -le 120 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi

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
# The implementation at -O2 takes valgrind three minutes: only on request (COST_COMPILE=1, as in .ci/run).
implementation() { # NAME FLAG...: millions of instructions, into a file of that name
    name=$1; shift
    valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null ${CC:-cc} -std=c99 -O2 "$@" -I../.. \
        -DGPUEXEC_IMPLEMENTATION -x c -c ../../gpuexec.h -o "$out/$name.o" 2>&1 |
        sed -n 's/.*Collected : //p' | awk '{ n += $1 } END { printf "%d", n / 1e6 }' > "$out/$name"
}
if [ -n "${COST_COMPILE:-}" ] && ! ${CC:-cc} --version | grep -q clang; then
    implementation whole &
    implementation without_multi -DGPUEXEC_NO_MULTI
    wait
    # 32,500 instructions for each byte of the header without its comments; without >>multi 29,000
    bytes=$(${CC:-cc} -fpreprocessed -dD -E -P -x c ../../gpuexec.h 2>/dev/null | wc -c)
    for what in "whole $((32500 * bytes / 1000000))" "without_multi $((29000 * bytes / 1000000))"; do
        took=$(cat "$out/${what% *}")
        echo "compiling the implementation at -O2, ${what% *}: $took million instructions, at most ${what#* }"
        if [ "$took" -gt 0 ] && [ "$took" -le "${what#* }" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
fi
bytes=$(wc -c < ../../gpuexec.h)
include() { # LANGUAGE INSTRUCTIONS_PER_BYTE COMMAND...: the compiler reads all of it, also what it skips
    language=$1 limit=$(($2 * bytes / 1000000)); shift 2
    more=$(($(echo '#include "gpuexec.h"' | compiler "$language" "$@") - $(compiler "$language" "$@" </dev/null)))
    echo "including gpuexec.h, $*: $more million instructions, at most $limit"
    if [ $more -gt 0 ] && [ $more -le "$limit" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
include c 101 ${CC:-cc} -std=c99
! ${CXX:-c++} --version >/dev/null 2>&1 || include cc 126 ${CXX:-c++} -std=c++11
echo "suite cost: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

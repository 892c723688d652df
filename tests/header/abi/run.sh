#!/bin/sh
# Compares the driver's binary interface as gpuexec.h and tests/simgpu declare it with CUDA's
# headers: each entry point's version and parameters, each constant, each struct (abi.cpp); and
# compiles gpuexec.h and cuda.h in one file, in either order. Usage: run.sh [FOLDER...], each with a
# cuda.h and a cudaTypedefs.h; by default this machine's toolkit. Rows that are newer than a toolkit
# are counted and listed. The CPU device must have a row for each interface of CUDA 13.0 and older
# ones, and export each symbol of its rows, no other.
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-abi-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
here=tests/header/abi
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual'
strict="$strict -Wundef -Werror -Wno-misleading-indentation" # it takes gcc most of its time
passed=0 failed=0 skipped=0
finish() {
    echo "suite abi: $passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
skip() { echo "  skipped: $1"; skipped=1; finish; }
# good CHECKS COMMAND...: the command must succeed and print nothing: CHECKS passed. Otherwise each
# error counts.
good() {
    checks=$1; shift
    if "$@" >"$out/log" 2>&1 && [ ! -s "$out/log" ]; then passed=$((passed + checks)); return; fi
    errors=$(grep -c 'error: ' "$out/log")
    failed=$((failed + (errors > 0 ? errors : 1)))
    echo "failed: $*"
    grep 'error: ' "$out/log" | sed 's/^.*error: /    /' | head -n 20
    [ "$errors" -gt 0 ] || head -n 20 "$out/log"
}

cc=${CC:-cc} cxx=${CXX:-c++} build=${BUILD:-build}
awk -f $here/rows.awk gpuexec.h tests/simgpu/base/cudadefs.h "$build/entry_points.h" >"$out/rows"
# only a guard
for least in 'ENTRY 80' 'CONSTANT 100' 'SIM_ENTRY 150' 'SIM_MISSING 100' 'SIM_CONSTANT 200'; do
    [ "$(grep -c " ${least% *}(" "$out/rows")" -ge "${least#* }" ] ||
        { echo "failed: rows.awk finds fewer rows than $least"; failed=$((failed + 1)); }
done

# What the library exports, and what its rows say.
if command -v nm >/dev/null 2>&1; then
    nm -DP "$build/libsimgpu.so" | awk '$2 == "T" && $1 ~ /^cu/ { print $1 }' |
        sort >"$out/exported"
    sed -n 's/^[^ ]* [0-9]* \([^ ]*\) SIM_[A-Z]*([^ ]* [^ ]* \(.*\))$/\1 \2/p' "$out/rows" |
        awk '{ print $2; if ($1 != "none") print $2 $1 }' | sort >"$out/named"
    sort -u "$out/named" >"$out/named_once"
    passed=$((passed + $(comm -12 "$out/exported" "$out/named_once" | grep -c '')))
    { comm -23 "$out/exported" "$out/named_once" | sed 's/$/ is exported, but has no row/'
      comm -13 "$out/exported" "$out/named_once" | sed 's/$/ has a row, but is not exported/'
      uniq -d "$out/named" | sed 's/$/ has two rows/'
    } >"$out/wrong"
    sed 's/^/failed: /' "$out/wrong"
    failed=$((failed + $(grep -c '' <"$out/wrong")))
fi

[ $# -gt 0 ] || for folder in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/include; do
    [ ! -f "$folder/cudaTypedefs.h" ] || { set -- "$folder"; break; }
done
[ $# -gt 0 ] || skip "no CUDA toolkit on this machine; '.ci/run abi' gets the headers of several"
$cxx --version >/dev/null 2>&1 || skip "no C++ compiler on this machine"
for source in tests/simgpu/*/*.c; do $cc -std=gnu99 -I"$build" -E -P "$source"; done |
    grep -o 'visibility("default"))) int cu[A-Za-z0-9_]* *([^;{]*);' |
    sed 's/.* \(cu[A-Za-z0-9_]*\) *\((.*)\);/SYMBOL(\1, \2)/' | sort -u >"$out/symbols.inc"

# Sorts the rows: those in the toolkit's headers into rows.inc; those newer than it; those that are
# missing. Headers before 11.8 and 13.0 lack entry points that the drivers of their time have. Entry
# points for OpenGL, EGL, VDPAU and the profiler have headers that toolkits may lack; their names
# are compared, their types are not. A per-thread variant has a typedef of the interface's version,
# or of 7.0: then it belongs to the last version before that.
sort_out='
    BEGIN {
        printf "" >(out "/rows.inc")
        printf "" >(out "/newer")
        printf "" >(out "/wrong")
        since_11_8 = "^PFN_cu(LaunchKernelEx|OccupancyMax(Potential|Active)Cluster(Size|s))$"
    }
    function group(name) {
        return name ~ /EGL|Egl/ ? "EGL" : name ~ /VDPAU/ ? "VDPAU" : \
               name ~ /Profiler/ ? "Profiler" : name ~ /^PFN_cu(Graphics)?GL/ ? "GL" : ""
    }
    FILENAME == "-" {
        there[$1] = 1
        if (match($1, /_v[0-9]+_pt[sd][sz]$/)) per_thread[substr($1, 1,
            length($1) - 5)] = substr($1, length($1) - 4)
        next
    }
    { base = $1; sub(/_v[0-9]+$/, "", base); row[++rows] = $0 }
    $3 != "-" {
        simulated[$1] = 1
        if ($2 < 7000 && $2 > last[base]) last[base] = $2
    }
    END {
        for (i = 1; i <= rows; i++) {
            $0 = row[i]
            base = $1
            sub(/_v[0-9]+$/, "", base)
            since = base ~ since_11_8 ? 11080 : \
                    base == "PFN_cuGreenCtxGetId" ? 13000 : $2
            if (($1 in there)) { if (!group($1)) print substr($0,
                index($0, $4)) >(out "/rows.inc") }
            else if (since > version || (since == 0 && version < 13000)) print $1 >(out "/newer")
            else if (!group($1) ||
                index(groups, group($1))) print "it does not have " $1 >(out "/wrong")
            suffix = $1 in per_thread ? per_thread[$1] : \
                     last[base] == $2 && (base "_v7000") in per_thread ? per_thread[base "_v7000"] \
                     : "none"
            if ($1 in there && $3 != "-" &&
                $3 != suffix) print "per-thread variants: " $0 >(out "/wrong")
        }
        for (name in there)                       # cuWGLGetDevice exists on Windows
            if (name ~ /^PFN_/ && match(name, /_v[0-9][0-9][0-9][0-9]+$/) &&
                substr(name, RSTART + 2) + 0 <= 13000 && \
                !(name in simulated) &&
                    name !~ /^PFN_cuWGL/) print "simgpu has no row for " name >(out "/wrong")
    }'

for folder; do
    version=$(sed -n 's/^#define CUDA_VERSION *\([0-9]*\).*/\1/p' "$folder/cuda.h" 2>/dev/null)
    [ -n "$version" ] || { echo "failed: no cuda.h with its version in $folder"; \
        failed=$((failed + 1)); continue; }
    groups=$(cd "$folder" && echo cuda*Typedefs.h)
    cat "$folder/cuda.h" "$folder"/cuda*Typedefs.h | tr -c 'A-Za-z0-9_' '\n' |
        grep -E '^(CU|PFN_cu)' | sort -u |
        awk -v version="$version" -v groups="$groups" -v out="$out" "$sort_out" - "$out/rows"
    failed=$((failed + $(grep -c '' <"$out/wrong")))
    sed "s/^/failed: CUDA $version: /" "$out/wrong"
    good "$(grep -c '' <"$out/rows.inc")" $cxx -std=c++11 -isystem "$folder" -I"$out" -I"$build" \
        -DENTRIES="$(grep -c ' ENTRY(' "$out/rows")" -fsyntax-only $here/abi.cpp
    for where in CUDA_FIRST CUDA_LAST; do
        for part in ${TEST_ALL:+-DGPUEXEC_NO_HERE -DGPUEXEC_STATIC} -DGPUEXEC_IMPLEMENTATION; do
            good 1 $cc -std=c99 $strict -isystem "$folder" -DREAL_CUDA_H -D$where $part \
                -fsyntax-only \
                tests/header/compile/cuda_types.c
            good 1 $cxx -std=c++11 $strict -isystem "$folder" -DREAL_CUDA_H -D$where $part \
                -fsyntax-only -x c++ \
                tests/header/compile/cuda_types.c
        done
    done
    echo "CUDA $((version / 1000)).$((version % 1000 / 10)): $(grep -c '' <"$out/rows.inc") rows" \
        "compared, $(grep -c '' <"$out/newer") newer$(
        sed -n 's/^PFN_/ /p' "$out/newer" | sort -u | tr -d '\n')"
done
for folder in "$@" "${CUDA_HOME:-/usr/local/cuda}/include" /usr/include; do
    [ ! -f "$folder/nccl.h" ] || [ ! -f "$folder/cuda_runtime.h" ] || break
    folder=
done
if [ -n "$folder" ]; then good 9 $cxx -std=c++11 -isystem "$folder" -fsyntax-only $here/nccl.cpp
else                      echo "  skipped: no nccl.h on this machine"; skipped=$((skipped + 1)); fi
finish

#!/bin/sh
# The cost of gpuexec.h for a compilation: the processor time of including it (a file with that line
# minus an empty one, medians of 9 rounds of 20), and of the implementation with -O2 (median of 5),
# for gcc and clang, C and C++. Only prints, since machines differ: tests/header/cost/run.sh counts
# instructions.
cd "$(dirname "$0")/../../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-compile-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
# times_of N COMMAND...: milliseconds of processor time of one of N runs.
times_of() { n=$1; shift; (i=0; while [ $i -lt "$n" ]; do "$@" || exit; i=$((i + 1)); done; times) |
    awk -v n="$n" 'NR == 2 {
    for (i = 1; i <= 2; i++) { split($i, t, /[ms]/);
    sum += t[1] * 60 + t[2] } printf "%.2f\n", sum * 1000 / n }'; }
for compiler in gcc clang g++ clang++; do
    command -v $compiler >/dev/null 2>&1 || { echo "$compiler: not on this machine"; continue; }
    case $compiler in *++) extension=cpp std=c++11 ;; *) extension=c std=c99 ;; esac
    : >"$out/empty.$extension"
    echo '#include "gpuexec.h"' >"$out/header.$extension"
    printf '#define GPUEXEC_IMPLEMENTATION\n#include "gpuexec.h"\n' \
        >"$out/implementation.$extension"
    for round in 1 2 3 4 5 6 7 8 9; do
        empty=$(times_of 20 $compiler -std=$std -I. -fsyntax-only "$out/empty.$extension")
        header=$(times_of 20 $compiler -std=$std -I. -fsyntax-only "$out/header.$extension")
        awk "BEGIN { print $header - $empty }"
    done >"$out/including"
    for round in 1 2 3 4 5; do
        times_of 1 $compiler -std=$std -O2 -I. -c "$out/implementation.$extension" -o "$out/o"
    done >"$out/compiling"
    echo "$compiler -std=$std: including $(median <"$out/including") ms," \
        "the implementation with -O2 $(median <"$out/compiling") ms"
done

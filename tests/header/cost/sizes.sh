#!/bin/sh
# What gpuexec.h costs with its options: lines of it that the compiler reads, processor seconds of
# the compiler at -O2 (the least of some rounds, all configurations in turn), and KiB of code.
# Compares all of it with GPUEXEC_CORE_ONLY, which must take at most a third of the time. `sizes.sh
# each` also measures it without each single part. CC names the compiler; ROUNDS=3.
cd "$(dirname "$0")/../../.." || exit 1
cc=${CC:-cc}
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-sizes-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
parts=$(sed -n 's/^#undef GPUEXEC_NO_//p' gpuexec.h | sort -u)
options="ALL CORE_ONLY"
[ "${1:-}" != each ] || for part in $parts; do options="$options NO_$part"; done

compile() { # OPTION COMMAND...
    define=; [ "$1" = ALL ] || define=-DGPUEXEC_$1
    shift
    "$@" -std=c99 -I. $define -DGPUEXEC_IMPLEMENTATION -x c gpuexec.h
}
# The lines from gpuexec.h itself that are not empty, by the line markers of the preprocessor.
lines_of() {
    compile "$1" $cc -E -w | awk '/^# [0-9]/ { ours = $3 ~ /gpuexec\.h"$/; next }
        ours && NF { n++ } END { print n + 0 }'
}
seconds_of() { # hundredths of a second of processor time
    (compile "$1" $cc -O2 -w -c -o "$out/$1.o" >&2 || exit; times) | awk 'NR == 2 {
        for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] }
        printf "%d\n", sum * 100 }'
}
round=0
while [ $round -lt "${ROUNDS:-3}" ]; do
    round=$((round + 1))
    for option in $options; do seconds_of $option >>"$out/$option.times"; done
done
least() { sort -n "$out/$1.times" | head -n 1; }

echo "| configuration | lines compiled | seconds at -O2 | KiB of code |"
echo "|---|---|---|---|"
for option in $options; do
    case $option in
        ALL) name=all ;;
        CORE_ONLY) name='core only: `GPUEXEC_CORE_ONLY`' ;;
        *) name="\`GPUEXEC_$option\`" ;;
    esac
    size "$out/$option.o" | awk -v name="$name" -v lines="$(lines_of $option)" \
        -v time="$(least $option)" 'NR == 2 {
        printf "| %s | %d | %.1f | %d |\n", name, lines, time / 100, $1 / 1024 }'
done
all=$(least ALL) core=$(least CORE_ONLY)
echo
awk -v all="$all" -v core="$core" 'BEGIN {
    printf "core only takes %.3f of the time of all, at most 0.333\n", core / all
    exit core * 3 > all }'

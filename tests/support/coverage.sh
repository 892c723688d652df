#!/bin/sh
# Measures how much of gpuexec.h the tests reach: `make coverage` builds them with gcc's --coverage
# in $1 and runs this. The unit suites run on the CPU device $2: with default settings, traced, as
# older drivers, and without peer access between devices. Then the fault injection and the examples
# run. The script prints, for each section of the header, how many of its lines and branches ran,
# and the lines that never ran; $1/branches.txt lists the lines with branches that were never taken.
# Fails below the limits. A label alone on a line does not count: gcov counts only the fall-through.
cd "$(dirname "$0")/../.." || exit 1
build=$1
export GPUEXEC_DRIVER="$2" SIMGPU_DEVICES=2 TEST_ROUNDS=2
lines_wanted=97 branches_wanted=88
find "$build" -name '*.gcda' -delete
failed=$build/failed.txt
: > "$failed"

# suites "VARIABLE=VALUE ..." SUITE...: each in that environment, as many at once as there are
# processors
suites() {
    with=$1
    shift
    for name; do echo "$name"; done | xargs -P "$(nproc)" -I{} sh -c '
        said=$(env '"$with"' "$0/unit/{}" 2>&1) ||
            { echo "--- {} '"$with"'"; echo "$said"; } >> "$1"' "$build" "$failed"
}
# The suites that test more than the device.
api=$(for source in tests/*/unit/*.c; do basename "$source" .c; done |
      grep -v '^corpus$\|^kernels$\|^driver$\|^threads$')
suites "" $api threads
suites "GPUEXEC_TRACE=1" $(echo "$api" | grep -v '^setup$')
for version in 11040 12020; do suites "SIMGPU_DRIVER_VERSION=$version" $api; done
suites "SIMGPU_PEERS=none" memory multi multi_device
SAN_FLAGS="$COVERAGE_FLAGS" BUILD=$build sh tests/header/fault/run.sh >> "$build/fault.txt" ||
    { echo "--- fault"; cat "$build/fault.txt"; } >> "$failed"
for program in "$build"/examples/*[!.]?; do
    [ -x "$program" ] || continue
    (cd "$build" && "examples/${program##*/}" > said.txt 2>&1 < /dev/null) || [ $? -eq 77 ] ||
        { echo "--- $program"; cat "$build/said.txt"; } >> "$failed"
done
if [ -s "$failed" ]; then cat "$failed"; exit 1; fi

# gcov's text of every program, summed: a line or branch ran if it did in any of them.
find "$build" -name '*.gcda' | while read -r data; do gcov -b -c -t "$data" 2>/dev/null;
done | awk '
    $2 ~ /^0:Source:/ || /^ *-: *0:Source:/ { ours = /gpuexec\.h$/; next }
    !ours { next }
    /^branch/ {                 # their numbers also count the calls of the line, which are left out
        if (!((at, $2) in taken)) { taken[at, $2] = 0; numbers[at] = numbers[at] " " $2 }
        if ($3 == "taken") taken[at, $2] += $4
        next
    }
    /^(call|function|unconditional)/ { next }
    {
        split($0, part, ":")
        count = part[1]; at = part[2] + 0
        gsub(/[ *]/, "", count)
        if (count == "-" || at == 0) next
        runs[at] += count == "#####" || count == "=====" ? 0 : count + 0
    }
    END {
        for (at in runs) {
            printf "%d %d", at, runs[at]
            n = split(numbers[at], number, " ")
            for (b = 1; b <= n; b++) printf " %d", taken[at, number[b]]
            print ""
        }
    }' |
    sort -n > "$build/counts.txt"

awk -v lines_wanted=$lines_wanted -v branches_wanted=$branches_wanted '
    FNR == NR { runs[$1] = $2; branches[$1] = NF - 2;
    for (i = 3; i <= NF; i++) if ($i > 0) hit[$1]++; next }
    /^ *>>[a-z-]+ / { section = $1; if (!(section in seen)) { seen[section] = 1;
    order[++sections] = section } }
    /^[a-z]+:$/ { next }
    FNR in runs {
        lines[section]++; all++
        if (runs[FNR] > 0) { ran[section]++;
        all_ran++ } else never[++nevers] = sprintf("%5d: %s", FNR, $0)
        b[section] += branches[FNR]; all_b += branches[FNR]
        t[section] += hit[FNR]; all_t += hit[FNR]
        if (runs[FNR] > 0 && hit[FNR] + 0 < branches[FNR])
            some[++somes] = sprintf("%5d: %d of %d: %s", FNR, branches[FNR] - hit[FNR],
                branches[FNR], $0)
    }
    END {
        for (i = 1; i <= somes; i++) print some[i] > details
        printf "%-18s %18s %18s\n", "section", "lines", "branches"
        for (i = 1; i <= sections; i++) {
            s = order[i]
            if (lines[s] && b[s])
                printf "%-18s %5d of %5d %4.0f%% %6d of %5d %4.0f%%\n", s,
                    ran[s], lines[s], 100 * ran[s] / lines[s], t[s], b[s], 100 * t[s] / b[s]
        }
        print "\nlines that never ran:"
        for (i = 1; i <= nevers; i++) print never[i]
        printf "\ngpuexec.h: %.1f%% of %d lines, %.1f%% of %d branches (wanted: %d%%, %d%%)\n",
            100 * all_ran / all, all, 100 * all_t / all_b, all_b, lines_wanted, branches_wanted
        exit all_ran < all * lines_wanted / 100 || all_t < all_b * branches_wanted / 100
    }' details="$build/branches.txt" "$build/counts.txt" gpuexec.h

#!/bin/sh
# Runs every test suite, one after the other, from the repository's root: the programs of tests/unit, built into $1/unit, and the scripts
# tests/*/run.sh. The last line a suite prints is `suite NAME: N passed, N failed, N skipped`; the last line printed here is their sum.
# TEST_SCRIPTS="cost fault" in the environment: only these scripts.
# A suite that fails shows all it printed, and so does one that crashed, hung or did not come to its last line: that is one failure.
cd "$(dirname "$0")/.." || exit 1
build=$1
. tests/device.sh
mkdir -p "$build/logs"
passed=0 failed=0 skipped=0

suite() { # NAME COMMAND...
    name=$1 log=$build/logs/$1.txt
    shift
    limited 300 "$@" > "$log" 2>&1 < /dev/null
    code=$?
    line=$(tail -n 1 "$log")
    counts=$(printf '%s\n' "$line" | sed -n 's/^suite [^:]*: \([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed, \([0-9][0-9]*\) skipped$/\1 \2 \3/p')
    set -- ${counts:-0 0 0}
    p=$1 f=$2 s=$3
    if [ -z "$counts" ] || { [ $code -ne 0 ] && [ "$f" -eq 0 ]; }; then
        f=$((f + 1))
        line="suite $name: ended with exit code $code$([ $code -ne 124 ] || echo ' (too slow)')${line:+ after: $line}"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" -gt 0 ]; then sed '$!s/^/    /;$d' "$log"; elif [ "$s" -gt 0 ]; then grep -i '^ *skip' "$log"; fi
    echo "$line"
}

for source in tests/unit/*.c; do
    name=$(basename "$source" .c)
    suite "$name" "$build/unit/$name"
done
for script in tests/*/run.sh; do
    name=$(basename "$(dirname "$script")")
    case " ${TEST_SCRIPTS-$name} " in *" $name "*) suite "$name" sh "$script" ;; esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

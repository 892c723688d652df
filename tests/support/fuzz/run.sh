#!/bin/sh
# Replays the findings of fuzzing, tests/*/fuzz/regressions/HARNESS/*, and the inputs of made.sh,
# each in a separate process: it must end in time, without a crash, a sanitizer report or a violated
# FUZZ_CHECK. Always on the CPU device, whatever the other suites use. `make fuzz` searches for
# more.
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-fuzz-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
sh tests/support/fuzz/made.sh "$out"
if command -v timeout >/dev/null 2>&1; then limited() { timeout -k 5 60 "$@"; }; else limited() { \
    "$@"; }; fi
passed=0 failed=0
for harness in parser executor params handles driver fatbin nested cache timeline; do
    for input in tests/*/fuzz/regressions/$harness/* "$out/$harness"/*; do
        [ -f "$input" ] || continue
        if limited "$build/fuzz/$harness" \
            "$input" > "$out/log" 2>&1 < /dev/null; then passed=$((passed + 1))
        else
            echo "$harness with $input: exit code $?"
            tail -n 40 "$out/log"
            failed=$((failed + 1))
        fi
    done
done
echo "suite fuzz: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

#!/bin/sh
# Makes VERDICTS: which forms of LIST ptxas 13.0 takes for sm_90. Many forms are assembled as one
# module, each in a kernel on a separate line; ptxas reports every line that it refuses, and the
# rest is assembled again until it takes all of them. Then each 200th form, and some more, are
# assembled alone: their verdicts must be the same.
#   verdicts.sh          replaces VERDICTS
#   verdicts.sh check    only compares with it; exit code 77: there is no ptxas 13.0
cd "$(dirname "$0")/../../.." || exit 1
forms=${BUILD:-build}/forms ptxas=${PTXAS:-ptxas}
"$ptxas" --version 2>/dev/null | grep -q 'release 13\.0' ||
    { echo "no ptxas of CUDA 13.0"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# assemble FILE: reads numbers from FILE, prints those that ptxas refuses, or "failed" if it says no
# line.
assemble() {
    "$forms" ptx < "$1" > "$1.ptx"
    ! "$ptxas" -arch=sm_90 "$1.ptx" -o /dev/null > "$1.log" 2>&1 ||
        grep -q 'uses 32-bit' "$1.log" || return 0
    sed -n -e 's/^ptxas.* line \([0-9]*\); *[ef][ra][rt][oa][rl] *:.*/\1/p' \
        -e 's/.*uses 32-bit address on line .\([0-9]*\).*/\1/p' \
        "$1.log" | sort -nu > "$1.lines"
    if [ -s "$1.lines" ]; then
        awk 'NR == FNR { refused[$1 - 4]; next } FNR in refused' "$1.lines" "$1"
    else
        echo failed
    fi
}

# sieve FILE: the same, until ptxas takes the rest. A module that fails without a line is halved.
sieve() {
    while [ -s "$1" ]; do
        assemble "$1" > "$1.refused"
        [ -s "$1.refused" ] || return 0
        if grep -q failed "$1.refused"; then
            n=$(wc -l < "$1")
            if [ "$n" -eq 1 ]; then
                echo "form $(cat "$1"): $(tail -n 1 "$1.log")" >&2
                cat "$1"
                return 0
            fi
            head -n $((n / 2)) "$1" > "$1.a"
            tail -n +$((n / 2 + 1)) "$1" > "$1.b"
            sieve "$1.a"
            sieve "$1.b"
            return 0
        fi
        cat "$1.refused"
        awk 'NR == FNR { refused[$1]; next } !($1 in refused)' "$1.refused" "$1" > "$1.rest"
        mv "$1.rest" "$1"
    done
}

count=$("$forms" count)
seq 0 $((count - 1)) | split -l 2000 - "$work/part."
for part in "$work"/part.*; do sieve "$part"; done | sort -n > "$work/refused"
wrong=0
for number in $(seq 7 200 $((count - 1))); do
    echo "$number" > "$work/one"
    alone=$(assemble "$work/one" | wc -l)
    [ "$alone" -eq "$(grep -cx "$number" "$work/refused")" ] ||
        { echo "form $number: not the same alone"; wrong=1; }
done
[ $wrong -eq 0 ] || exit 1
"$forms" verdicts < "$work/refused" > "$work/verdicts"
echo "$count forms: ptxas refuses $(wc -l < "$work/refused")"
if [ "${1:-}" = check ]; then diff tests/device/forms/VERDICTS "$work/verdicts"
else cp "$work/verdicts" tests/device/forms/VERDICTS; fi

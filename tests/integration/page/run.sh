#!/bin/sh
# Draws timelines of 1,000 and of 100,000 events (draw.c). Checks the file's form (schema.py) and
# what Perfetto finds in it (trace_sql.py), that the picture is XML, and uses the page in Chromium,
# wide and narrow, light and dark (check.js). What the machine lacks is skipped by name.
# PYTHON: the interpreter whose packages include perfetto; CHROMIUM: the browser.
cd "$(dirname "$0")/../../.." || exit 1
here=tests/integration/page
build=${BUILD:-build}
python=${PYTHON:-python3}
passed=0 failed=0 skipped=0
skip() { echo "  skipped: $1"; skipped=$((skipped + 1)); }
have() { command -v "$1" >/dev/null 2>&1; }
. tests/support/device.sh
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-page-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
check() { # WHAT COMMAND...
    what=$1
    shift
    limited 200 "$@" >"$out/log" 2>&1 </dev/null
    code=$?
    case $code in
        0)  passed=$((passed + 1)) ;;
        77) skip "$what: $(tail -n 1 "$out/log")" ;;
        *)  failed=$((failed + 1))
            echo "failed: $what: exit code $code:"
            sed 's/^/    /' "$out/log" | tail -n 20 ;;
    esac
}
chromium=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
    [ -n "$chromium" ] || ! have $name || chromium=$name
done
# Opens the page in a window of this size. SCHEME: dark is 0, light is 1.
browse() { # PAGE SIZE SCHEME
    # shellcheck disable=SC2086
    limited 200 "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$out/profile" --blink-settings=preferredColorScheme=$3 \
        --window-size=$2 --virtual-time-budget=20000 --dump-dom "file://$1" 2>"$out/browser" |
        sed -n 's/.*<title>\(page: [0-9]* passed, [0-9]* failed\)<.*/\1/p; s/.*<body>\(.*\)/\1/p' \
        >"$out/said"
    cat "$out/said"
    ! grep -q '^page: [1-9][0-9]* passed, 0 failed$' "$out/said" || return 0
    tail -n 5 "$out/browser"
    return 1
}

# shellcheck disable=SC2086
${CC:-cc} -std=c99 ${SAN_FLAGS:-} -DGPUEXEC_IMPLEMENTED $here/draw.c "$build/implementation.o" \
    -o "$out/draw" -ldl -lpthread || exit 1
for count in 1000 100000; do
    mkdir "$out/$count"
    totals=$("$out/draw" $count "$out/$count")
    check "$count events: drawing" test -n "$totals"
    if have "$python"; then
        # shellcheck disable=SC2086
        check "$count events: the form of the file" "$python" $here/schema.py \
            "$out/$count/events.json" $totals
        # shellcheck disable=SC2086
        check "$count events: Perfetto" "$python" $here/trace_sql.py "$out/$count/events.json" \
            ${totals#* }
    else skip "$count events: no $python"; fi
    if have xmllint; then check "$count events: xmllint" xmllint --noout "$out/$count/events.svg"
    else skip "$count events: no xmllint"; fi
    if [ -z "$chromium" ]; then skip "$count events: no Chromium"; continue; fi
    { sed '/^<\/body>$/,$d' "$out/$count/events.html"
      echo '<script>'; cat $here/check.js; echo '</script></body></html>'
    } >"$out/$count/check.html"
    for window in 1280,900,1 1280,900,0 420,800,0; do
        if browse "$out/$count/check.html" "${window%,*}" "${window##*,}" >"$out/log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "failed: $count events in a window of $window:"
            sed 's/^/    /' "$out/log" | cut -c 1-2000
        fi
    done
done
echo "suite page: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

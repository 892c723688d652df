# Sourced by run.sh. A machine can stop a test, or one of its threads, for any time, and run it
# twice at the same time. Therefore no test
#   sleeps (or yields) as an order of threads: it waits for a condition (TEST_UNTIL), a join or a
#   semaphore. A sleep that only gives something wrong the time to happen has a comment
#   `not order: why`, on its line or the line before;
#   fails because something took 5 s, or less, too long;
#   uses a file with a fixed name in a shared folder, unless a comment `a fixed name: why` says why.
# Prints the violations, then `N passed, N failed`: one check for each file.
check_stalls() {
    files | grep -E '^tests/.*\.(c|h|cpp|cu|py|sh)$|^\.ci/run$' | grep -v '^tests/simgpu/' |
        while IFS= read -r file; do
            [ ! -f "$file" ] || { printf '\n\001%s\n' "$file"; cat "$file"; }
        done | LC_ALL=C awk '
        BEGIN {
            sleep = "(test_)?sleep_ms|(u|thrd_)?sleep|(clock_)?nanosleep|sched_yield"
            sleep = "(^|[^a-z_])(" sleep ") *\\("
        }
        function wrong(text) {
            if (!bad++) failed++
            print "failed: " file ":" NR - first ": " text ": " $0
        }
        function close_file() { if (file != "" && !bad) passed++ }
        /^\001/ {
            close_file()
            file = substr($1, 2)
            first = NR
            bad = 0
            before = ""
            next
        }
        {
            code = $0
            if (file ~ /\.(c|h|cpp|cu)$/) {
                sub(/^ *(\/\/|\*).*/, "", code)
                sub(/ *\/[*\/].*/, "", code)
                sleeps = code ~ sleep
                sleeps = sleeps && code !~ /^(static +|inline +|void +)+[a-z_]*sleep_ms\(/
            } else if (file ~ /\.py$/) sleeps = code ~ /[^a-z_]sleep\(/
            else {
                sub(/^ *#.*| # .*/, "", code)
                sleeps = code ~ sleep
            }
            if (sleeps && ($0 before) !~ /not order/)
                wrong("a sleep without a comment `not order: why`")
            if (match(code, /test_seconds\(\)[^;<]*< *[0-9.]+ *[;)]/)) {
                limit = substr(code, RSTART, RLENGTH)
                sub(/.*< */, "", limit)
                if (limit + 0 <= 5)
                    wrong("a limit of 5 s or less, which a correct program misses when it is " \
                        "stopped")
            }
            if (code ~ /["= ]\/(tmp|var\/tmp|dev\/shm)\/[A-Za-z0-9_.-]/ &&
                code !~ /XXXXXX|%[a-z0-9]/ &&
                ($0 before) !~ /a fixed name: /) wrong("a fixed name in a folder that others share")
            if (code ~ /(shm|sem|mq)_open\( *"/) wrong("a fixed name that others share")
            before = $0
        }
        END {
            close_file()
            printf "%d passed, %d failed\n", passed, failed
        }'
}

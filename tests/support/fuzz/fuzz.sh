#!/bin/sh
# fuzz.sh BUILD SECONDS HARNESS...: runs each harness in BUILD/fuzz for that time, one per processor
# at a time (or FUZZ_JOBS), with a random seed (or FUZZ_SEED). The corpus stays in BUILD/corpus, and
# the next run continues from it. An input that causes a failure is left in BUILD/found:
# `BUILD/fuzz/HARNESS FILE` repeats it, and with FUZZ_VERBOSE=1 also prints the input.
build=$1 seconds=$2
shift 2
cd "$(dirname "$0")/../../.." || exit 1
mkdir -p "$build/found" "$build/seeds/parser" "$build/seeds/timeline"
cp tests/header/fuzz/regressions/timeline/* "$build/seeds/timeline"
sh tests/support/fuzz/made.sh "$build/seeds"
"$build/fuzz/words" > "$build/ptx.dict"
find kernels tests/support tests/device tests/header -name '*.ptx' -size -9k \
    -exec cp {} "$build/seeds/parser" \;
cp "$build/seeds/parser"/*.ptx "$build/seeds/params"
export build seconds
printf '%s\n' "$@" | xargs -P "${FUZZ_JOBS:-$(nproc 2>/dev/null || echo 2)}" -I{} sh -c '
    mkdir -p "$build/corpus/{}"
    case {} in
        parser) more="-dict=$build/ptx.dict -max_len=8192" ;;
        params) more="-dict=$build/ptx.dict -max_len=4096" ;;
        timeline) more=-max_len=4000 ;;
        *) more=-max_len=600 ;;
    esac
    "$build/fuzz/{}" -max_total_time="$seconds" ${FUZZ_SEED:+-seed=$FUZZ_SEED} $more \
        -timeout=60 -rss_limit_mb=4000 -print_final_stats=1 -artifact_prefix="$build/found/{}-" \
        "$build/corpus/{}" "$build/seeds/{}" > "$build/{}.log" 2>&1
    code=$?
    inputs=$(sed -n "s/^stat::number_of_executed_units: //p" "$build/{}.log")
    cov=$(grep -a "cov:" "$build/{}.log" | tail -n 1 | sed "s/.*\(cov: [0-9]* ft: [0-9]*\).*/\1/")
    echo "{}: $inputs inputs, $cov, exit code $code"
    [ $code -eq 0 ] || {
        grep -a -A 25 "ERROR\|not so\|runtime error" "$build/{}.log" | head -n 60
        exit 1
    }'

#!/bin/sh
# Runs the probes of this directory on the available driver and compares its answers with those of
# an H200 (h200.txt) and, to the questions that only an H100 has seen, of an H100 (h100.txt), as the
# program printed them there. The H100 gave the H200's answers to all of h200.txt. On the CPU device
# all answers must be equal, except for those in differences.txt, which must differ as it says: a
# difference that no longer exists fails, too. On a GPU of another model, or with another driver,
# answers that differ are skipped. Questions that neither has seen are in open.txt, with the answers
# of the CPU device, which must be these; those of an H100 or H200 are printed. Without such
# questions there is no open.txt.
# `$build/answers GROUP...` runs some groups only.
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
answers=${ANSWERS:-$build/answers.txt}               # another file, if several run at the same time
fail() { echo "$1"; echo "suite probe: 0 passed, 1 failed, 0 skipped"; exit 1; }
[ -x "$build/answers" ] || fail "$build/answers is not built"
case ${GPUEXEC_DRIVER:-} in
    *libsimgpu*)
        for name in $(env | sed -n 's/^\(SIMGPU_[A-Z_0-9]*\)=.*/\1/p'); do unset "$name"; done
        export SIMGPU_DEVICES=2
        device=cpu ;;
    *) device=gpu ;;
esac
text=$("$build/answers" 2>&1 > "$answers") || { echo "$text"; fail "no device"; }
for known in tests/device/probe/h[12]00.txt; do
    [ "$(sed 1q "$answers")" != "$(sed 1q "$known")" ] || device=known
done
awk -v device=$device '
    /^#/ || !NF { next }
    { question = $1; rest = $0; sub(/^[^ ]* ?/, "", rest) }
    FILENAME ~ /differences/ {
        if (split(rest, part, / \| /) != 2) wrong("differences.txt has no reason for " question)
        listed[question] = part[1]
        next
    }
    FILENAME ~ /open/ { open[question] = rest; next }
    FILENAME ~ /h[12]00/ { order[++n] = question; want[question] = rest; next }
    {
        got[question] = rest
        if (!(question in want) && !(question in open) && question !~ /gave_up$/)
            wrong(question " " rest ": the answer of a GPU is not known")
    }
    function wrong(text) { print text; failed++ }
    END {
        for (i = 1; i <= n; i++) {
            question = order[i]; group = question; sub(/\..*/, "", group)
            answer = question in got ? got[question] : "nothing"
            is = question ": " answer; as = want[question] " on a GPU"
            expected = device == "cpu" && question in listed ? listed[question] : want[question]
            if (answer == expected && (expected == want[question]) == (device != "cpu" ||
                !(question in listed))) {
                passed++
            } else if (device != "cpu" && group == "gone" && answer == "crashed") {
                # The driver reads an object that it has freed: gone.function_launch crashed in one
                # of ten runs.
                print "skipped: " is ", " as
                skipped++
            } else if (got[group ".gave_up"] ~ /^two devices/ && device != "cpu") {
                print "skipped: " question " needs two devices"
                skipped++
            } else if (device == "gpu") {
                print "skipped: " is ", " as
                skipped++
            } else if (answer == want[question]) wrong(is \
                ", as on a GPU: differences.txt lists a difference")
            else if (expected != want[question]) wrong(is ", not " expected \
                " as differences.txt says; " as)
            else wrong(is ", but " as)
        }
        for (question in open) {
            answer = question in got ? got[question] : "nothing"
            if (question in want)
                wrong(question ": the answer of a GPU is known, but it is still in open.txt")
            else if (device == "known") {
                print "new answer: " question " " answer
                skipped++
            } else if (device == "gpu" || answer == open[question]) passed += device == "cpu"
            else wrong(question ": " answer ", not " open[question] " as open.txt says")
            unseen++
        }
        if (unseen && device == "cpu")
            print unseen " questions have no answer of a GPU yet: open.txt"
        for (question in listed)
            if (!(question in want))
                wrong(question ": in differences.txt, but the answer of a GPU is not known")
        printf "suite probe: %d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0 || passed == 0
    }' tests/device/probe/differences.txt tests/device/probe/h200.txt \
        tests/device/probe/h100.txt $(ls tests/device/probe/open.txt 2> /dev/null) \
    "$answers"

#!/bin/sh
# examples.sh PROGRAM...: runs each example repeatedly, each time with another driver call failing:
# the first call of each entry point, then the last. The example must end in time, without being
# killed and without a crash (with sanitizers: a leak), with a nonzero exit code and a text; or,
# where the library does not need that call (fault.c says where), as if nothing had failed. On the
# CPU device only, since this uses its SIMGPU_FAIL. Fast with few programs, but programs that
# compute for seconds do so for each fault.
case ${GPUEXEC_DRIVER:-} in
    /*libsimgpu*) ;;
    *) echo "set GPUEXEC_DRIVER to the CPU device, by an absolute path"; exit 1 ;;
esac
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-fault-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
passed=0 failed=0 skipped=0 faults=0 survived=0
for program; do
    case $program in /*) ;; *) program=$PWD/$program ;; esac
    case $program in *jacobi | *_cg) size=16 ;; *_exchange | *_reduce) size=4096 ;; *) size= ;; esac
    (cd "$out" && SIMGPU_TRACE=1 timeout 60 "$program" $size 2>&1 >/dev/null </dev/null
     echo $? > exit) |
        sed -n 's/^simgpu: \(cu[A-Za-z0-9]*\)[_v2]* -> 0 .*/\1/p' |
        grep -v 'cuGetProcAddress\|cuGetError' | sort |
            uniq -c > "$out/calls"
    [ "$(cat "$out/exit")" != 77 ] ||
        { echo "  skipped: ${program##*/}"; skipped=$((skipped + 1)); continue; }
    [ -s "$out/calls" ] || { echo "$program makes no driver calls"; failed=$((failed + 1)); \
        continue; }
    bad=0
    while read -r times name; do
        for at in 1 "$times"; do
            case $name in cuMem*Alloc* | *Create* | *Retain*) code=2 ;; *) code=999 ;; esac
            (cd "$out" &&
                SIMGPU_FAIL=$name:$at:$code SIMGPU_TIMEOUT=20 timeout 60 "$program" \
                $size > "$out/text" 2>&1 </dev/null)
            status=$?
            faults=$((faults + 1))
            if [ $status -eq 0 ]; then survived=$((survived + 1)); fi
            if [ $status -ge 124 ] || [ ! -s "$out/text" ] ||
                grep -q 'Sanitizer\|runtime error' "$out/text"; then
                echo "${program##*/} with call $at of $name failing ($code): exit code $status"
                sed 's/^/    /' "$out/text" | tail -n 15
                bad=1
            fi
            [ "$times" != 1 ] || break
        done
    done < "$out/calls"
    if [ $bad -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "  $faults faults, of which $survived changed nothing"
echo "suite examples: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]

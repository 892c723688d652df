# Sourced by tests/check.sh and examples/run.sh, with $build set: selects the device to run on,
#   once, and prints it. GPUEXEC_DRIVER in the environment comes first, then the system's driver if
#   it has a device, then the CPU device. $gpus: the number of GPUs, or empty.
# The settings of the sanitizers: CUDA maps memory in ASan's shadow gap, and leaks in the driver are
# not reported.
leaks=1 gpus=
# CUDA_VISIBLE_DEVICES selects GPUs; the tests see all CPU devices.
case ${GPUEXEC_DRIVER:-} in *libsimgpu*) unset CUDA_VISIBLE_DEVICES ;; esac
if [ -n "${GPUEXEC_DRIVER:-}" ]; then
    case $GPUEXEC_DRIVER in /*) ;; */*) GPUEXEC_DRIVER=$PWD/$GPUEXEC_DRIVER ;; esac
    export GPUEXEC_DRIVER
    found=$(ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 "$build/find_device" ||
        echo 'no device')
    echo "running on: $found (GPUEXEC_DRIVER=$GPUEXEC_DRIVER)"
elif gpu=$(ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 "$build/find_device"); then
    leaks=0 gpus=${gpu%% *}
    echo "running on: $gpu"
else
    case $build in /*) root= ;; *) root=$PWD/ ;; esac
    export GPUEXEC_DRIVER="$root$build/libsimgpu.so" SIMGPU_DEVICES="${SIMGPU_DEVICES:-2}"
    unset CUDA_VISIBLE_DEVICES
    echo "no GPU found: running on the CPU device ($build/libsimgpu.so)"
fi
export ASAN_OPTIONS="protect_shadow_gap=0:detect_leaks=$leaks${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1"

# limited SECONDS COMMAND...: runs the command with a time limit, if the machine has `timeout`.
if command -v timeout >/dev/null 2>&1; then limited() { timeout -k 5 "$@"; }; else limited() \
    { shift; "$@"; }; fi

# keep_gpu FOLDER: until release_gpu, a process keeps a context open on the GPU: meanwhile CUDA
# starts faster in others. On the CPU device it does nothing.
keep_gpu() {
    [ -n "$gpus" ] || return 0
    rm -f "$1/open"
    mkfifo "$1/open" || return 1
    "$build/find_device" keep < "$1/open" > /dev/null &
    exec 3> "$1/open"
}
release_gpu() { exec 3>&-; }

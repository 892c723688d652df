"""What the scripts beside it share: a line per check and proof that the CPU device did the work."""
import ctypes
import os
import subprocess
import sys

import numpy as np

counts = {True: 0, False: 0}


def check(name, good, why=""):
    """One check: a line, and a count for finish()."""
    good = bool(good)
    counts[good] += 1
    print("PASS" if good else "FAIL", name, why if not good else "", flush=True)


def same(name, got, want, rtol=0):
    """The device's array or number against numpy's."""
    got, want = np.asarray(got), np.asarray(want)
    good = got.shape == want.shape and np.allclose(got, want, rtol=rtol, atol=rtol)
    check(name, good, "" if good else f"got {got.ravel()[:8]} want {want.ravel()[:8]}")


def device_is(name):
    """Stops unless the client reports the CPU device's name: another device, or a simulator, would
    prove nothing."""
    if isinstance(name, bytes):
        name = name.decode()
    check(f"the device is {name!r}", name.startswith("simgpu CPU device"))
    if counts[False]:
        finish()


def again(function, texts):
    """Runs this script with one more argument."""
    done = subprocess.run([sys.executable, *sys.argv, function], capture_output=True, text=True,
        timeout=120,
                          env={**os.environ, "SIMGPU_VERBOSE": "1"})
    printed = done.stdout + done.stderr
    return done.returncode, printed, [text for text in texts if text not in printed]


def says(name, function, *texts):
    """Runs this script only as far as `function`, in a new process, because a kernel's error stays
    for its process. It must fail, and print each of the texts."""
    code, printed, missing = again(function, texts)
    check(name, code and not missing, f"exit code {code}, not printed: {missing}, but: {printed}")


def prints(name, function, *texts):
    """As says(), but the process must succeed."""
    code, printed, missing = again(function, texts)
    check(name, not code and not missing,
        f"exit code {code}, not printed: {missing}, but: {printed}")


def finish():
    """The libcuda.so.1 of this process must be the CPU device, and must have counted the
    instructions of our kernels: the runner sets SIMGPU_COUNT=1."""
    executed = ctypes.CDLL("libcuda.so.1").simgpu_thread_instructions
    executed.restype = ctypes.c_ulonglong
    check(f"the CPU device executed {executed()} thread-instructions", executed() > 100000)
    print(f"{counts[True]} passed, {counts[False]} failed", flush=True)
    sys.exit(counts[False] > 0)

"""numba's CUDA target, twice: the one built into numba (`with_numba.py Built-in`), which links PTX
through the driver, and its successor numba-cuda (`with_numba.py NVIDIA`), which does so if it finds
no nvJitLink."""
import math
import sys

import numpy as np
from numba import config, cuda, float32

from common import check, device_is, finish, prints, same, says

THREADS = 128


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def total(values, result):
    """One atomic per block, after a tree in shared memory."""
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    mine = float32(0)
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        mine += values[i]
    part[t] = mine
    cuda.syncthreads()
    half = THREADS // 2
    while half:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(result, 0, part[0])


@cuda.jit
def matmul(a, b, c):
    """16 x 16 tiles in shared memory."""
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    value = float32(0)
    for k in range((a.shape[1] + 15) // 16):
        tile_a[ty, tx] = a[y, k * 16 + tx] if y < a.shape[0] and k * 16 + tx < a.shape[1] else 0
        tile_b[ty, tx] = b[k * 16 + ty, x] if x < b.shape[1] and k * 16 + ty < b.shape[0] else 0
        cuda.syncthreads()
        for j in range(16):
            value += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = value


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def warp_sums(values, sums):
    i = cuda.grid(1)
    value = values[i]
    step = 16
    while step:
        value += cuda.shfl_down_sync(0xffffffff, value, step)
        step //= 2
    if i % 32 == 0:
        sums[i // 32] = value


@cuda.jit(device=True)
def bell(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


@cuda.jit
def transform(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = bell(x[i]) + math.sin(x[i]) * math.erf(x[i]) + x[i] ** 1.5


@cuda.reduce
def plus(a, b):
    return a + b


@cuda.jit
def grid_rows(m):
    """Each row needs the row before, from the opposite end of the grid."""
    column = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
        grid.sync()


@cuda.jit
def greet():
    print("thread", cuda.threadIdx.x, "says", 1.5)


@cuda.jit
def wild(a):
    a[1 << 20] = 1


@cuda.jit(debug=True, opt=False)
def checked(a):
    if a[cuda.grid(1)] == 5:
        raise ValueError("five")


def errors():
    """Kernels' errors, each in a process that ends with it."""
    if sys.argv[-1] == "wild":
        a = cuda.to_device(np.zeros(8, np.int32))
        wild[1, 1](a)
        cuda.synchronize()
    if sys.argv[-1] == "checked":
        checked[1, 32](cuda.to_device(np.arange(32)))
    if sys.argv[-1] == "greet":
        greet[1, 2]()
        cuda.synchronize()


def main():
    check(f"this is {cuda.implementation} numba.cuda", cuda.implementation == sys.argv[1]
        and not config.ENABLE_CUDASIM)
    device_is(cuda.get_current_device().name)
    random = np.random.default_rng(7)

    a, b = random.random((2, 10007), dtype=np.float32)
    c = np.zeros_like(a)
    add[(a.size + THREADS - 1) // THREADS, THREADS](a, b, c)
    same("vector add", c, a + b)

    result = np.zeros(1, np.float32)
    total[8, THREADS](a, result)
    same("reduction", result[0], a.sum(dtype=np.float64), 1e-5)

    m, n = random.random((50, 70), dtype=np.float32), random.random((70, 40), dtype=np.float32)
    p = np.zeros((50, 40), np.float32)
    matmul[(3, 4), (16, 16)](m, n, p)
    same("matrix product with tiles in shared memory", p, m @ n, 1e-5)

    values = random.integers(0, 10, 5000)
    bins = np.zeros(10, np.int32)
    histogram[40, 128](values, bins)
    same("histogram with atomics", bins, np.bincount(values, minlength=10))

    sums = np.zeros(32, np.float32)
    warp_sums[8, 128](a[:1024], sums)
    same("sums of warps with shuffles", sums, a[:1024].reshape(32, 32).sum(1), 1e-5)

    x, y = random.random(1000), np.zeros(1000)
    transform[8, 128](x, y)
    erf = np.vectorize(math.erf)
    same("functions of libdevice", y, np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) + np.sin(x) * erf(x)
        + x ** 1.5, 1e-14)

    same("cuda.reduce", plus(np.arange(5000.0)), 4999 * 2500)

    stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
    with cuda.pinned(c):
        da, db, dc = (cuda.to_device(v, stream=stream) for v in (a, b, c))
        begin.record(stream)
        add[80, THREADS, stream](da, db, dc)
        add[80, THREADS, stream](dc, db, dc)
        end.record(stream)
        dc.copy_to_host(c, stream=stream)
        stream.synchronize()
    same("a stream of copies and kernels", c, a + b + b)
    check("two events measure it", cuda.event_elapsed_time(begin, end) >= 0)

    rows = np.zeros((20, 256), np.int32)
    grid_rows[8, 32](rows)
    same("a grid that synchronizes", rows,
        np.repeat(np.arange(20, dtype=np.int32)[:, None], 256, 1))

    prints("print in a kernel", "greet", "thread 0 says 1.5", "thread 1 says 1.5")
    says("a store beyond its array is error 700", "wild", "CudaAPIError", "700", "4-byte store")
    says("an exception in a kernel with debug=True", "checked", "ValueError", "tid=[0, 0, 5]",
        "five")
    finish()


if sys.argv[-1] == sys.argv[1]:
    main()
else:
    errors()

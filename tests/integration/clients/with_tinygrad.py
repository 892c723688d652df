"""tinygrad on DEV=CUDA:PTX, which writes its PTX itself. It does not use the CUDA that a user would
write: its scheduler makes the kernels."""
import os
import sys

import numpy as np
from tinygrad import Context, Device, Tensor, TinyJit, dtypes, nn

from common import check, device_is, finish, prints, same

random = np.random.default_rng(7)


def name_of_device():
    import ctypes
    from tinygrad.runtime.autogen import cuda
    name = ctypes.create_string_buffer(100)
    cuda.cuDeviceGetName(name, len(name), Device["CUDA"].cu_device)
    return name.value


def reduction():
    """With DEBUG=4, tinygrad prints the PTX: this one has groups of threads that add up in
    shared memory."""
    a = random.random(1 << 16, dtype=np.float32)
    return Tensor(a).sum().item(), a.sum()


@TinyJit
def step(x):
    y = (x + 1).contiguous()
    return (y * y.sum()).realize()


def main():
    check("DEV=CUDA:PTX", Device.DEFAULT == "CUDA"
        and type(Device["CUDA"].renderer).__name__ == "PTXRenderer")
    device_is(name_of_device())

    a, b = random.random((2, 10007), dtype=np.float32)
    same("vector add", (Tensor(a) + Tensor(b)).numpy(), a + b)
    same("reduction", *reduction(), 1e-5)
    prints("it adds up in shared memory", "reduction", ".shared", "st.shared.f32", "bar.sync")

    m, n = random.random((96, 80), dtype=np.float32), random.random((80, 64), dtype=np.float32)
    same("matrix product", (Tensor(m) @ Tensor(n)).numpy(), m @ n, 1e-5)
    half = Tensor(m).half()
    same("matrix product of halves", (half @ half.T).float().numpy(),
         m.astype(np.float16).astype(np.float32) @ m.T.astype(np.float16).astype(np.float32), 2e-2)
    e = np.exp(m - m.max(1, keepdims=True))
    same("softmax", Tensor(m).softmax(1).numpy(), e / e.sum(1, keepdims=True), 1e-5)
    same("sort", Tensor(a[:500]).sort()[0].numpy(), np.sort(a[:500]))
    i, j = random.integers(-1000, 1000, 500), random.integers(1, 50, 500)
    same("integers", ((Tensor(i) // Tensor(j)) ^ (Tensor(i) << 3)).numpy(), (i // j) ^ (i << 3))
    d = random.random(500)
    same("doubles", (Tensor(d, dtype=dtypes.double) * 3 - 1).numpy(), d * 3 - 1, 1e-15)

    x, y = random.random((64, 8), dtype=np.float32), random.random((64, 1), dtype=np.float32)
    weights, want = Tensor.zeros(8, 1).contiguous(), np.zeros((8, 1), np.float32)
    optimizer = nn.optim.SGD([weights], lr=0.1)
    with Context(TRAINING=1):
        for _ in range(8):
            optimizer.zero_grad()
            (Tensor(x) @ weights - Tensor(y)).square().mean().backward()
            optimizer.step()
            want -= 0.1 * 2 / 64 * x.T @ (x @ want - y)
    same("steps of training", weights.numpy(), want, 1e-5)

    for k in range(4):
        got = step(Tensor.full((1000,), float(k)).contiguous().realize()).numpy()
        same(f"a TinyJit function, call {k + 1}", got,
            np.full(1000, 1000.0 * (k + 1) ** 2, np.float32))

    there = Tensor(a).to("CUDA:1")
    same("a second device", (there + there).to("CUDA").numpy(), a + a)
    finish()


if len(sys.argv) > 1:
    os.environ["DEBUG"] = "4"
    with Context(DEBUG=4):
        print(*reduction())
else:
    main()

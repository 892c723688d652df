// For comparison in start.c: the same with the runtime API, and the kernel compiled into the
// program.
#include <stdio.h>
#include "../../kernels/vector_add.cu"

enum { N = 1000 };
static float a[N], b[N], c[N];

int main() {
    float *da, *db, *dc;
    cudaStream_t stream;
    for (int i = 0; i < N; i++) {
        a[i] = 1.0f;
        b[i] = 2.0f;
    }
    cudaStreamCreate(&stream);
    cudaMalloc(&da, sizeof a);
    cudaMalloc(&db, sizeof b);
    cudaMalloc(&dc, sizeof c);
    cudaMemcpyAsync(da, a, sizeof a, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(db, b, sizeof b, cudaMemcpyHostToDevice, stream);
    vector_add<<<(N + 255) / 256, 256, 0, stream>>>(da, db, dc, N);
    cudaMemcpyAsync(c, dc, sizeof c, cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
    for (int i = 0; i < N; i++)
        if (c[i] != 3.0f) return 1;
    puts("done");
    return fflush(stdout);
}

/* Sparse work: a matrix in CSR with a warp per row, one level of a breadth-first search with a
   queue. */
extern "C" __global__ void spmv(const int *start, const int *column, const double *value,
        const double *x, double *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double s = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        s += value[k] * __ldg(&x[column[k]]);
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if (lane == 0) y[row] = s;
}
extern "C" __global__ void bfs(const int *start, const int *neighbour, int *distance,
        const int *queue, int queued, int *next, int *next_n, int level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queued) return;
    int v = queue[i];
    for (int k = start[v]; k < start[v + 1]; k++)
        if (atomicCAS(&distance[neighbour[k]], -1, level) == -1)
            next[atomicAdd(next_n, 1)] = neighbour[k];
}

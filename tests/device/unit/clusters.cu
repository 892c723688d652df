/* clusters.cu - kernels for tests/device/unit/clusters.c: thread block clusters, by cooperative
   groups and by PTX. clusters.ptx is made from this file by

       nvcc -ptx -arch=compute_90 tests/device/unit/clusters.cu -o tests/device/unit/clusters.ptx
       sed -i -e '/^\/\//d' -e 's/[ \t]*$//' tests/device/unit/clusters.ptx */
#include <cooperative_groups.h>
#include <stdint.h>

namespace cg = cooperative_groups;

/* -------------------------------------------------------------------------------------------------
   Where a block is: what each special register says. */

#define REGISTER(name) \
    ([]() { \
        unsigned v; \
        asm volatile("mov.u32 %0, %%" #name ";" : "=r"(v)); \
        return v; \
    }())

static __device__ void where(unsigned *out) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned is_explicit;
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(is_explicit));
    if (threadIdx.x) return;
    out += 20 * block;
    out[0] = REGISTER(clusterid.x);
    out[1] = REGISTER(clusterid.y);
    out[2] = REGISTER(clusterid.z);
    out[3] = REGISTER(nclusterid.x);
    out[4] = REGISTER(nclusterid.y);
    out[5] = REGISTER(nclusterid.z);
    out[6] = REGISTER(cluster_ctaid.x);
    out[7] = REGISTER(cluster_ctaid.y);
    out[8] = REGISTER(cluster_ctaid.z);
    out[9] = REGISTER(cluster_nctaid.x);
    out[10] = REGISTER(cluster_nctaid.y);
    out[11] = REGISTER(cluster_nctaid.z);
    out[12] = REGISTER(cluster_ctarank);
    out[13] = REGISTER(cluster_nctarank);
    out[14] = is_explicit;
    out[15] = blockIdx.x;
    out[16] = blockIdx.y;
    out[17] = blockIdx.z;
    out[18] = gridDim.x;
    out[19] = gridDim.y * 1000 + gridDim.z;
}
extern "C" __global__ void ids(unsigned *out) { where(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 1) ids_1(unsigned *out) { where(out); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) ids_2(unsigned *out) { where(out); }
extern "C" __global__ void __cluster_dims__(2, 2, 1) ids_2_2(unsigned *out) { where(out); }
extern "C" __global__ void __cluster_dims__(1, 2, 4) ids_1_2_4(unsigned *out) { where(out); }
extern "C" __global__ void __cluster_dims__(8, 1, 1) ids_8(unsigned *out) { where(out); }

/* -------------------------------------------------------------------------------------------------
   Data between blocks. n is the number of threads of a block; rank and size are the cluster's. */

/* Every block hands an array to the next rank, again and again: in the end it has come round to its
   owner, or not. */
extern "C" __global__ void ring(unsigned *out, unsigned rounds) {
    __shared__ unsigned mine[2][256];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x;
    const unsigned block = blockIdx.x;
    mine[0][t] = block * 1000 + t;
    cluster.sync();
    for (unsigned k = 0; k < rounds; k++) {
        const unsigned *next = cluster.map_shared_rank(&mine[k & 1][0], (rank + 1) % size);
        mine[(k & 1) ^ 1][t] = next[t] + 1;
        cluster.sync();
    }
    out[block * blockDim.x + t] = mine[rounds & 1][t];
}

/* Atomics of many kinds in the shared memory of rank 0. Not and, or, xor of 64 bits: with driver
   580, updates of an H200's other blocks are lost. */
extern "C" __global__ void reduce(const unsigned *in, unsigned long long *out) {
    __shared__ unsigned long long sum;
    __shared__ unsigned all_or, most, least, last;
    __shared__ float parts;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) {
        sum = 0;
        all_or = most = last = 0;
        least = ~0u;
        parts = 0;
    }
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), (unsigned long long)in[i]);
    atomicOr(cluster.map_shared_rank(&all_or, 0), 1u << (in[i] & 31));
    atomicMax(cluster.map_shared_rank(&most, 0), in[i]);
    atomicMin(cluster.map_shared_rank(&least, 0), in[i]);
    atomicInc(cluster.map_shared_rank(&last, 0), 99);
    atomicAdd(cluster.map_shared_rank(&parts, 0), (float)(in[i] & 1023));
    cluster.sync();
    if (rank == 0 && t == 0) {
        unsigned long long *o = out + 6 * (blockIdx.x / cluster.num_blocks());
        o[0] = sum;
        o[1] = all_or;
        o[2] = most;
        o[3] = least;
        o[4] = last;
        o[5] = (unsigned long long)parts;
    }
}

/* The bins are distributed over the cluster's blocks, in dynamic shared memory. */
extern "C" __global__ void histogram(const unsigned *in, unsigned n, unsigned bins, unsigned *out) {
    extern __shared__ unsigned part[];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(),
                   each = (bins + size - 1) / size;
    for (unsigned k = threadIdx.x; k < each; k += blockDim.x) part[k] = 0;
    cluster.sync();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned bin = in[i] % bins;
        atomicAdd(cluster.map_shared_rank(part, bin / each) + bin % each, 1u);
    }
    cluster.sync();
    for (unsigned k = threadIdx.x; k < each && rank * each + k < bins; k += blockDim.x)
        atomicAdd(&out[rank * each + k], part[k]);
}

/* The halves of the barrier apart: each block publishes a number, arrives, works, waits, and reads
   all of them. */
extern "C" __global__ void phases(unsigned *out, unsigned rounds) {
    __shared__ unsigned mine[2];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    unsigned total = 0, work = threadIdx.x;
    for (unsigned k = 0; k < rounds; k++) {
        if (threadIdx.x == 0) mine[k & 1] = (rank + 1) * (k + 1);
        if (k % 3 == 2) {
            asm volatile("fence.acq_rel.cluster;" ::: "memory");
            asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        } else if (k % 3 == 1) asm volatile("barrier.cluster.arrive.release;" ::: "memory");
        else cluster.barrier_arrive();
        for (unsigned j = 0; j < 3 * rank; j++) work = work * 1664525u + 1013904223u;
        if (k % 3 == 2) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        else cluster.barrier_wait();
        for (unsigned j = 0; j < size; j++) total += cluster.map_shared_rank(mine, j)[k & 1];
        __syncwarp();
    }
    cluster.sync();
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x)] = total;
    out[2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1] = work;
}

/* All to all: each block stores one row into every other block's memory, with 32-bit
   shared::cluster addresses in even rows and with generic ones in odd rows; loads and the copy to
   the output mix both kinds, too. */
extern "C" __global__ void exchange(unsigned *out) {
    __shared__ __align__(16) unsigned box[16][64];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x;
    cluster.sync();
    for (unsigned to = 0; to < size; to++) {
        const unsigned v = (blockIdx.x * 100 + to) * 100 + t;
        unsigned mapped, own = (unsigned)__cvta_generic_to_shared(&box[rank][0]);
        if (rank & 1) {
            if (t < 64) cluster.map_shared_rank(&box[rank][0], to)[t] = v;
            continue;
        }
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(own), "r"(to));
        if (rank & 2) {
            if (t < 16)
                asm volatile(
                        "st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(mapped + 16 * t),
                        "r"(v + 3 * t), "r"(v + 3 * t + 1), "r"(v + 3 * t + 2), "r"(v + 3 * t + 3)
                        : "memory");
        } else if (t < 64)
            asm volatile(
                    "st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(mapped + 4 * t), "r"(v)
                    : "memory");
    }
    cluster.sync();
    for (unsigned from = 0; from < size; from++) {
        unsigned v, at = (unsigned)__cvta_generic_to_shared(&box[from][t % 64]);
        if (t % 3 == 0) v = box[from][t % 64];
        else if (t % 3 == 1)
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
        else {
            unsigned mapped;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                         : "=r"(mapped)
                         : "r"(at), "r"(rank));
            asm volatile("ld.acquire.cluster.shared::cluster.u32 %0, [%1];"
                         : "=r"(v)
                         : "r"(mapped)
                         : "memory");
        }
        if (t < 64) out[(blockIdx.x * 16 + from) * 64 + t] = v;
    }
}

/* c = a * b for 16 x 16 tiles: the blocks of a cluster share a row of tiles of c, so they need the
   same tile of a. Each loads a part of it; all read all parts. */
extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float ta[16][16], tb[16][16];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    const unsigned x = threadIdx.x, y = threadIdx.y, rows = 16 / size, owner = y / rows;
    const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (unsigned k = 0; k < n; k += 16) {
        if (owner == rank) ta[y][x] = a[row * n + k + x];
        tb[y][x] = b[(k + y) * n + column];
        cluster.sync();
        const float *shared_row = cluster.map_shared_rank(&ta[y][0], owner);
        for (unsigned j = 0; j < 16; j++) sum += shared_row[j] * tb[j][x];
        cluster.sync();
    }
    c[row * n + column] = sum;
}

/* Blocks and threads leave at different times; those that have exited count as arrived. Rank r
   takes part in the first r + 1 barriers, its odd threads in one less. */
extern "C" __global__ void leavers(unsigned *out) {
    __shared__ unsigned came;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x;
    const unsigned mine = rank + 1 - (t & 1);
    if (t == 0) came = 0;
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    for (unsigned k = 0; k < mine; k++) {
        atomicAdd(cluster.map_shared_rank(&came, size - 1), 1u); /* the last to leave */
        asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
        if (rank == size - 1 && t == 0)
            out[blockIdx.x / size * 16 + k] = *(volatile unsigned *)&came;
        asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    }
    if (t % 3 == 0) asm volatile("barrier.cluster.arrive;" ::: "memory"); /* and some do not wait */
}

/* What is shared, and whose: by isspacep, getctarank and mapa, for each rank. */
extern "C" __global__ void addresses(unsigned *out) {
    __shared__ unsigned here[4];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    if (threadIdx.x == 0) here[0] = rank;
    cluster.sync();
    if (threadIdx.x == 0)
        for (unsigned r = 0; r < size; r++) {
            unsigned *o = out + (blockIdx.x * 16 + r) * 8, narrow, v;
            unsigned long long generic = (unsigned long long)&here[1], mapped;
            asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(generic), "r"(r));
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                         : "=r"(narrow)
                         : "r"((unsigned)__cvta_generic_to_shared(&here[1])), "r"(r));
            asm volatile("getctarank.u64 %0, %1;" : "=r"(v) : "l"(mapped));
            o[0] = v;
            asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v) : "r"(narrow));
            o[1] = v;
            asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
                         : "=r"(v)
                         : "l"(mapped));
            o[2] = v;
            asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
                         : "=r"(v)
                         : "l"(mapped));
            o[3] = v;
            asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
                         : "=r"(v)
                         : "l"(mapped));
            o[4] = v;
            unsigned long long wide;
            asm volatile("cvta.shared::cluster.u64 %0, %1;"
                         : "=l"(wide)
                         : "l"((unsigned long long)narrow));
            o[5] = wide == mapped; /* the same address by both ways */
            asm volatile("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(wide) : "l"(mapped));
            o[6] = (unsigned)wide == narrow;
            asm volatile("ld.u32 %0, [%1 + -4];" : "=r"(v) : "l"(mapped) : "memory");
            o[7] = v;
        }
    cluster.sync();
}

/* The whole grid synchronizes, too: cooperative. */
extern "C" __global__ void grid_and_cluster(unsigned *work, unsigned *out) {
    __shared__ unsigned sum;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned t = threadIdx.x, block = blockIdx.x;
    if (t == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), block + 1);
    cluster.sync();
    if (t == 0 && cluster.block_rank() == 0) work[block / cluster.num_blocks()] = sum;
    cg::this_grid().sync();
    if (t == 0) {
        unsigned total = 0;
        for (unsigned k = 0; k < gridDim.x / cluster.num_blocks(); k++)
            total += ((volatile unsigned *)work)[k];
        out[block] = total;
    }
}

/* -------------------------------------------------------------------------------------------------
   mbarriers of other blocks: arrivals, asynchronous stores, and bulk copies. */

static __device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ unsigned mapped(const void *p, unsigned rank) {
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank));
    return a;
}
static __device__ void expect(const void *bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes)
                 : "memory");
}
static __device__ void wait(const void *bar, unsigned parity) {
    asm volatile("{\n\t.reg .pred p;\nagain:\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n\t"
                 "@p bra done;\n\tbra again;\ndone:\n\t}" ::"r"(at(bar)),
                 "r"(parity)
                 : "memory");
}

/* Each block waits until every other one has arrived at its mbarrier, twice. */
extern "C" __global__ void arrivals(unsigned *out) {
    __shared__ unsigned long long bar;
    __shared__ unsigned data[16];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&bar)), "r"(size)
                     : "memory");
    cluster.sync();
    unsigned total = 0;
    for (unsigned k = 0; k < 2; k++) {
        if (t < size) {
            cluster.map_shared_rank(data, t)[rank] = blockIdx.x * 10 + k;
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                    mapped(&bar, t))
                         : "memory");
        }
        wait(&bar, k);
        for (unsigned j = 0; j < size; j++) total += *(volatile unsigned *)&data[j];
        cluster.sync();
    }
    out[blockIdx.x * blockDim.x + t] = total;
}

/* st.async and red.async into the next block; its mbarrier counts the bytes. */
extern "C" __global__ void async_stores(unsigned *out) {
    __shared__ __align__(16) unsigned data[4 * 64];
    __shared__ unsigned long long bar;
    __shared__ unsigned sum;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x,
                   to = (rank + 1) % size;
    if (t == 0) {
        sum = 7;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    }
    cluster.sync();
    if (t == 0) expect(&bar, 64 * 20);
    if (t < 64) {
        const unsigned v = blockIdx.x * 1000 + t;
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, "
                     "%3, %4}, [%5];" ::"r"(mapped(&data[4 * t], to)),
                     "r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3), "r"(mapped(&bar, to))
                     : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add."
                     "u32 [%0], %1, [%2];" ::"r"(mapped(&sum, to)),
                     "r"(t), "r"(mapped(&bar, to))
                     : "memory");
    }
    wait(&bar, 0);
    if (t < 64) {
        unsigned hash = sum;
        for (unsigned k = 0; k < 4; k++) hash = hash * 31 + data[4 * t + k];
        out[blockIdx.x * 64 + t] = hash;
    }
    cluster.sync();
}

/* Bulk copies: from global memory to every block of the cluster at once (multicast), and from one
   block to the next. */
extern "C" __global__ void bulk(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned first[256], second[256];
    __shared__ unsigned long long bar[2];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), t = threadIdx.x,
                   to = (rank + 1) % size;
    if (t == 0)
        for (int k = 0; k < 2; k++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar[k])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    if (t == 0) {
        expect(&bar[0], 1024);
        expect(&bar[1], 1024);
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
                         "multicast::cluster "
                         "[%0], [%1], 1024, [%2], %3;" ::"r"(at(first)),
                         "l"(in + blockIdx.x / size * 256), "r"(at(&bar[0])),
                         "h"((unsigned short)((1u << size) - 1))
                         : "memory");
    }
    wait(&bar[0], 0);
    first[t % 256] = first[t % 256] * 2 + rank;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                     "[%1], 1024, [%2];" ::"r"(mapped(second, to)),
                     "r"(at(first)), "r"(mapped(&bar[1], to))
                     : "memory");
    wait(&bar[1], 0);
    out[blockIdx.x * 256 + t] = second[t];
    cluster.sync();
}

/* -------------------------------------------------------------------------------------------------
   Faults. */

/* how: 0 reads a block that has exited, 1 of a rank that the cluster does not have, 2 beyond the
   end of another block's memory, 3 another block's memory without ::cluster */
extern "C" __global__ void beyond(unsigned *out, unsigned how) {
    __shared__ unsigned mine[4];
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    unsigned v = 0;
    mine[0] = rank;
    cluster.sync();
    if (rank && how == 0) return;
    if (rank == 0 && threadIdx.x == 0) {
        const unsigned a = mapped(mine, how == 1 ? size : 1);
        if (how == 0)
            for (int k = 0; k < 2000; k++) __nanosleep(1000);
        if (how == 3) asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
        else
            asm volatile("ld.shared::cluster.u32 %0, [%1];"
                         : "=r"(v)
                         : "r"(how == 2 ? a + 0x40000 : a)
                         : "memory");
    }
    if (how) cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = v + 1;
}

/* Block 1 waits at a barrier that only it reaches; block 0 at the cluster's. */
extern "C" __global__ void stuck(unsigned *out) {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1 && threadIdx.x < 32)
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

// Parameters of many types, compiled by nvcc: the suite params and examples/params.c compare with
// the offsets that it assigns. Needs nvcc 13 or later, for types such as double4_16a.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct mixed {
    float f;
    float4 f4;
};    // 12 bytes of padding after f

template <class T> __device__ unsigned char *put(unsigned char *out, T value) {
    const unsigned char *bytes = (const unsigned char *)&value;
    for (unsigned i = 0; i < sizeof value; i++) *out++ = bytes[i];
    return out;
}

// Writes what it received to `out`, without padding. Its first seven parameters are at 0 16 32 36
// 40 48 56.
extern "C" __global__ void receive(int i, float4 f4, char c, float f, int *p, float2 f2,
        unsigned char *out, mixed m, bool b, short3 s3, double d, __half h, uchar4 u4,
        long long l) {
    out = put(put(put(put(put(put(out, i), f4), c), f), p), f2);
    out = put(put(put(out, m.f), m.f4), b);
    put(put(put(put(put(out, s3), d), h), u4), l);
}

// Each type after a char, so that its offset shows its alignment; in the order of the table in
// gpuexec.h.
#define AFTER_CHAR(n, type) char c##n, type p##n
extern "C" __global__ void every_type(AFTER_CHAR(0, bool), AFTER_CHAR(1, char),
        AFTER_CHAR(2, char1), AFTER_CHAR(3, char2), AFTER_CHAR(4, char3), AFTER_CHAR(5, char4),
        AFTER_CHAR(6, unsigned char), AFTER_CHAR(7, uchar1), AFTER_CHAR(8, uchar2),
        AFTER_CHAR(9, uchar3), AFTER_CHAR(10, uchar4), AFTER_CHAR(11, short),
        AFTER_CHAR(12, short1), AFTER_CHAR(13, short2), AFTER_CHAR(14, short3),
        AFTER_CHAR(15, short4), AFTER_CHAR(16, unsigned short), AFTER_CHAR(17, ushort1),
        AFTER_CHAR(18, ushort2), AFTER_CHAR(19, ushort3), AFTER_CHAR(20, ushort4),
        AFTER_CHAR(21, int), AFTER_CHAR(22, int1), AFTER_CHAR(23, int2), AFTER_CHAR(24, int3),
        AFTER_CHAR(25, int4), AFTER_CHAR(26, unsigned), AFTER_CHAR(27, uint1),
        AFTER_CHAR(28, uint2), AFTER_CHAR(29, uint3), AFTER_CHAR(30, uint4),
        AFTER_CHAR(31, long long), AFTER_CHAR(32, longlong1), AFTER_CHAR(33, longlong2),
        AFTER_CHAR(34, longlong3), AFTER_CHAR(35, longlong4_16a), AFTER_CHAR(36, longlong4_32a),
        AFTER_CHAR(37, unsigned long long), AFTER_CHAR(38, ulonglong1), AFTER_CHAR(39, ulonglong2),
        AFTER_CHAR(40, ulonglong3), AFTER_CHAR(41, ulonglong4_16a), AFTER_CHAR(42, ulonglong4_32a),
        AFTER_CHAR(43, long), AFTER_CHAR(44, long1), AFTER_CHAR(45, long2), AFTER_CHAR(46, long3),
        AFTER_CHAR(47, long4_16a), AFTER_CHAR(48, long4_32a), AFTER_CHAR(49, unsigned long),
        AFTER_CHAR(50, ulong1), AFTER_CHAR(51, ulong2), AFTER_CHAR(52, ulong3),
        AFTER_CHAR(53, ulong4_16a), AFTER_CHAR(54, ulong4_32a), AFTER_CHAR(55, __half),
        AFTER_CHAR(56, __half2), AFTER_CHAR(57, __nv_bfloat16), AFTER_CHAR(58, __nv_bfloat162),
        AFTER_CHAR(59, float), AFTER_CHAR(60, float1), AFTER_CHAR(61, float2),
        AFTER_CHAR(62, float3), AFTER_CHAR(63, float4), AFTER_CHAR(64, double),
        AFTER_CHAR(65, double1), AFTER_CHAR(66, double2), AFTER_CHAR(67, double3),
        AFTER_CHAR(68, double4_16a), AFTER_CHAR(69, double4_32a), AFTER_CHAR(70, void *),
        AFTER_CHAR(71, cudaTextureObject_t), AFTER_CHAR(72, cudaSurfaceObject_t)) {}

/* array.c - arrays: their descs and limits, copies in all shapes, graphs, ends. */
#include "../../test.h"

static gpuexec_array_desc floats(size_t width, size_t height, size_t depth) {
    gpuexec_array_desc d;
    memset(&d, 0, sizeof d);
    d.format = GPUEXEC_FORMAT_F32;
    d.width = width;
    d.height = height;
    d.depth = depth;
    return d;
}

/* Copies a box into an array, and another box back, and compares with a model. */
TEST(copies) {
    enum { W = 20, H = 6, D = 4 };
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_array_desc d = floats(W, H, D);
    gpuexec_array a = gpuexec_array_create(ctx, &d), b = gpuexec_array_create(ctx, &d);
    static float in[D][H][W], out[D][H][W];
    gpuexec_copy_desc c;
    int x, y, z, wrong = 0;
    CHECK_MADE(a);
    for (z = 0; z < D; z++)
        for (y = 0; y < H; y++)
            for (x = 0; x < W; x++) in[z][y][x] = (float)(x + 100 * y + 10000 * z);
    memset(&c, 0, sizeof c);
    c.to.array = a;
    c.from.host = in;
    c.width_bytes = sizeof in[0][0];
    c.height = H;
    c.depth = D;
    CHECK_OK(gpuexec_copy_with(s, &c));
    memset(&c, 0, sizeof c); /* a part, one element, row and slice further */
    c.to.array = b;
    c.to.x = 4;
    c.to.y = c.to.z = 1;
    c.from.array = a;
    c.width_bytes = 4 * (W - 1);
    c.height = H - 1;
    c.depth = D - 1;
    CHECK_OK(gpuexec_copy_with(s, &c));
    memset(&c, 0, sizeof c);
    c.to.host = out;
    c.from.array = b;
    c.width_bytes = sizeof in[0][0];
    c.height = H;
    c.depth = D;
    CHECK_OK(gpuexec_copy_with(s, &c));
    CHECK_OK(gpuexec_stream_sync(s));
    for (z = 1; z < D; z++)
        for (y = 1; y < H; y++)
            for (x = 1; x < W; x++) wrong += out[z][y][x] != in[z - 1][y - 1][x - 1];
    CHECK_EQ(wrong, 0);
    CHECK_OK(gpuexec_array_destroy(a));
    CHECK_OK(gpuexec_array_destroy(b));
    CHECK_OK(gpuexec_context_close(ctx));
}

TEST(levels) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_array_desc d = floats(20, 6, 0);
    gpuexec_array_info info;
    gpuexec_array a;
    d.levels = GPUEXEC_ALL_LEVELS;
    d.layers = 3;
    a = gpuexec_array_create(ctx, &d);
    CHECK_OK(gpuexec_array_get_info(a, 2, &info));
    CHECK_EQ(info.levels, 5);
    CHECK_EQ(info.width, 5);
    CHECK_EQ(info.height, 1);
    CHECK_EQ(info.slices, 3);
    CHECK(gpuexec_array_native(a, 4) != NULL);
    CHECK_FAILED(gpuexec_array_get_info(a, 5, &info), GPUEXEC_BAD_ARGUMENT, "is 5", "5 levels");
    CHECK_OK(gpuexec_context_close(ctx));
}

TEST(wrong_descs) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_array_desc d;
#define REFUSED(change, ...) \
    do { \
        d = floats(16, 16, 0); \
        change; \
        CHECK_NOT_MADE(gpuexec_array_create(ctx, &d), GPUEXEC_BAD_ARGUMENT, __VA_ARGS__); \
    } while (0)
    CHECK_NOT_MADE(gpuexec_array_create(ctx, NULL), GPUEXEC_BAD_ARGUMENT, "desc is NULL");
    REFUSED(d.format = (gpuexec_format)0, "format is 0");
    REFUSED(d.channels = 3, "channels is 3", "1, 2 or 4");
    REFUSED(d.format = GPUEXEC_FORMAT_BC5; d.channels = 4, "channels is 4", "BC5 has 2");
    REFUSED(d.width = 0, "width is 0");
    REFUSED(d.height = 0; d.depth = 4, "depth is 4", "height is 0");
    REFUSED(d.depth = 4; d.layers = 2, "depth is 4", "layers");
    REFUSED(d.cube = 1; d.height = 8, "width is 16", "height is 8");
    REFUSED(d.format = GPUEXEC_FORMAT_BC1; d.height = 0, "BC1", "height is 0");
    REFUSED(d.format = GPUEXEC_FORMAT_BC1; d.surface = 1, "surface is 1", "BC1");
    REFUSED(d.gather = 1; d.height = 0, "gather is 1", "one dimension");
    REFUSED(d.levels = 6, "levels is 6", "at most 5");
    REFUSED(d.width = 1 << 28, "width is 268435456", "MAXIMUM_TEXTURE2D_WIDTH");
    REFUSED(d.layers = 1 << 20, "layers is 1048576", "TEXTURE2D_LAYERED_LAYERS");
    CHECK_OK(gpuexec_context_close(ctx));
}

TEST(wrong_copies) {
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_array_desc d = floats(16, 8, 0);
    gpuexec_array a = gpuexec_array_create(ctx, &d);
    static float host[16 * 8];
    gpuexec_copy_desc c;
#define COPY_REFUSED(change, ...) \
    do { \
        memset(&c, 0, sizeof c); \
        c.to.array = a; \
        c.from.host = host; \
        c.width_bytes = 64; \
        c.height = 8; \
        change; \
        CHECK_REFUSED(gpuexec_copy_with(s, &c), GPUEXEC_BAD_ARGUMENT, __VA_ARGS__); \
    } while (0)
    COPY_REFUSED(c.to.x = 4, "to.x (4)", "width_bytes (64)", "64 bytes of a row");
    COPY_REFUSED(c.to.y = 1, "to.y (1)", "height (8)", "8 rows");
    COPY_REFUSED(c.to.z = 1, "to.z (1)", "1 slices");
    COPY_REFUSED(c.width_bytes = 6, "6 bytes", "have 4 bytes");
    COPY_REFUSED(c.to.level = 1, "to.level is 1", "1 level");
    COPY_REFUSED(c.to.pitch = 64, "pitch is 64");
    COPY_REFUSED(c.to.host = host, "both an array and a host pointer");
    COPY_REFUSED(c.from.level = 1, "from.level is 1", "not an array");
    COPY_REFUSED(c.from.host = NULL; c.from.element_bytes = 1, "cannot fill");
    COPY_REFUSED(c.from.host = NULL; c.from.array = a; c.from.x = 4; c.to.y = 1; c.height = 4;
                 c.width_bytes = 32, "overlap in one array");
    CHECK_OK(gpuexec_context_close(ctx));
}

/* copies.c - copies of boxes, arrays of copies, fills of rows with words: random programs of them
   beside a plain model, and what each refuses. */
#include "../../test.h"

/* ---- random programs: the same copies and fills on the device and, byte by byte, in a model
   ---- */

enum {
    DEVICE,
    OTHER,
    POOL,
    MANAGED,
    PINNED,
    COMBINED,
    PAGEABLE,
    REGIONS,
    BYTES = 6000,
    PROGRAMS = 300,
    STEPS = 12,
    PARTS = 40
};

typedef struct region {
    gpuexec_ptr device; /* 0: host memory */
    unsigned char *host;
    unsigned char model[BYTES];
} region;
typedef struct world {
    gpuexec_context ctx, other; /* other: of another device, if there is one */
    gpuexec_stream stream;
    gpuexec_ptr managed; /* 0: the device has none */
    region at[REGIONS];
    uint32_t random;
} world;

static uint32_t below(world *w, size_t n) { return (uint32_t)(test_random(&w->random) % n); }

static world begin(void) {
    world w;
    memset(&w, 0, sizeof w);
    w.ctx = w.other = gpuexec_context_open(0, NULL);
    if (gpuexec_device_count() > 1) w.other = gpuexec_context_open(1, NULL);
    w.stream = gpuexec_stream_create(w.ctx, NULL);
    w.at[DEVICE].device = gpuexec_alloc(w.ctx, BYTES);
    w.at[OTHER].device = gpuexec_alloc(w.other, BYTES);
    w.at[POOL].device = gpuexec_alloc_on(w.stream, BYTES);
    if (!w.at[POOL].device) { /* no memory pools */
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
        w.at[POOL].device = gpuexec_alloc(w.ctx, BYTES);
    }
    w.managed = w.at[MANAGED].device = gpuexec_alloc_managed(w.ctx, BYTES, NULL);
    if (!w.managed) {
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
        w.at[MANAGED].device = gpuexec_alloc(w.ctx, BYTES);
    }
    CHECK_OK(gpuexec_stream_sync(w.stream));
    w.at[PINNED].host = (unsigned char *)gpuexec_alloc_pinned(w.ctx, BYTES);
    w.at[COMBINED].host = (unsigned char *)gpuexec_alloc_write_combined(w.ctx, BYTES);
    w.at[PAGEABLE].host = (unsigned char *)malloc(BYTES);
    return w;
}

/* A box of a region: x is its first byte; the pitch and slice in bytes. */
typedef struct shape {
    size_t width, height, depth;
} shape;
typedef struct place {
    region *in;
    size_t first, pitch, rows;
} place;

static unsigned char *byte_of(const place *p, size_t x, size_t y, size_t z) {
    return p->in->model + p->first + (z * p->rows + y) * p->pitch + x;
}
static void model_copy(const place *to, const place *from, shape s) {
    size_t x, y, z;
    for (z = 0; z < s.depth; z++)
        for (y = 0; y < s.height; y++)
            for (x = 0; x < s.width; x++) *byte_of(to, x, y, z) = *byte_of(from, x, y, z);
}
static void model_fill(const place *to, uint32_t value, size_t word, shape s) {
    size_t x, y;
    for (y = 0; y < s.height; y++)
        for (x = 0; x < s.width; x++)
            *byte_of(to, x, y, 0) = (unsigned char)(value >> 8 * (x % word));
}

/* A random shape of that many dimensions, in which a box of it is at most BYTES / 2 large with any
   pitch below. */
static shape some_shape(world *w, int dimensions) {
    shape s = { 1, 1, 1 };
    s.width = 1 + below(w, dimensions == 1 ? BYTES / 2 : dimensions == 2 ? 60 : 20);
    if (dimensions > 1) s.height = 1 + below(w, dimensions == 2 ? 30 : 8);
    if (dimensions > 2) s.depth = 1 + below(w, 6);
    return s;
}
/* A random place for it, aligned to that many bytes. */
static place some_place(world *w, region *in, shape s, size_t aligned) {
    place p;
    size_t span;
    p.in = in;
    p.pitch = s.height * s.depth > 1 ? s.width + below(w, 20) : s.width;
    p.pitch = (p.pitch + aligned - 1) / aligned * aligned;
    p.rows = s.height + (s.depth > 1 ? below(w, 4) : 0);
    span = ((s.depth - 1) * p.rows + s.height - 1) * p.pitch + s.width;
    CHECK(span < BYTES);
    p.first = below(w, BYTES - span + 1) / aligned * aligned;
    return p;
}

static void copy_line(world *w, const place *to, const place *from, size_t n, int now) {
    const gpuexec_ptr p = to->in->device + to->first, q = from->in->device + from->first;
    unsigned char *h = to->in->host + (to->in->host ? to->first : 0);
    const unsigned char *g = from->in->host + (from->in->host ? from->first : 0);
    if (to->in->host)
        CHECK_OK(
                now ? gpuexec_copy_out_now(w->ctx, h, q, n) : gpuexec_copy_out(w->stream, h, q, n));
    else if (from->in->host)
        CHECK_OK(now ? gpuexec_copy_in_now(w->ctx, p, g, n) : gpuexec_copy_in(w->stream, p, g, n));
    else if (below(w, 3))
        CHECK_OK(now ? gpuexec_copy_now(w->ctx, p, q, n) : gpuexec_copy(w->stream, p, q, n));
    else {
        const gpuexec_context a = to->in == &w->at[OTHER] ? w->other : w->ctx;
        const gpuexec_context b = from->in == &w->at[OTHER] ? w->other : w->ctx;
        CHECK_OK(now ? gpuexec_copy_peer_now(w->ctx, p, a, q, b, n)
                     : gpuexec_copy_peer(w->stream, p, a, q, b, n));
    }
}
/* Any shape; now: on the legacy default stream, and waits. */
static void fill_or_copy(
        gpuexec_context ctx, gpuexec_stream s, const gpuexec_copy_desc *c, int now) {
    const gpuexec_stream on = now ? gpuexec_stream_legacy(ctx) : s;
    CHECK_OK(gpuexec_copy_with(on, c));
    if (now) CHECK_OK(gpuexec_stream_sync(on));
}
static void copy_desc(world *w, const gpuexec_copy_desc *c, int now) {
    fill_or_copy(w->ctx, w->stream, c, now);
}
static void copy_rows(world *w, const place *to, const place *from, shape s, int now) {
    const gpuexec_ptr p = to->in->device + to->first, q = from->in->device + from->first;
    unsigned char *h = to->in->host + (to->in->host ? to->first : 0);
    const unsigned char *g = from->in->host + (from->in->host ? from->first : 0);
    const size_t a = to->pitch, b = from->pitch, n = s.width, rows = s.height;
    if (to->in->host) copy_desc(w, ROWS(ON_HOST(h, a), ON_DEVICE(q, b), n, rows), now);
    else if (from->in->host) copy_desc(w, ROWS(ON_DEVICE(p, a), ON_HOST(g, b), n, rows), now);
    else copy_desc(w, ROWS(ON_DEVICE(p, a), ON_DEVICE(q, b), n, rows), now);
}
/* The place as a box, with its first byte divided into offsets where that is possible. */
static gpuexec_side box_of(world *w, const place *p, shape s) {
    gpuexec_side box;
    const size_t x = p->first % p->pitch;
    memset(&box, 0, sizeof box);
    box.device = p->in->device;
    box.host = p->in->host;
    box.pitch = p->pitch;
    box.slice_height = p->rows;
    if (x + s.width <= p->pitch && below(w, 4)) {
        box.x = x;
        box.y = p->first / p->pitch;
        if (s.depth > 1 || below(w, 2)) {
            box.z = box.y / p->rows;
            box.y %= p->rows;
        }
        if (s.depth == 1 || box.y + s.height <= p->rows) {
            if (box.z == 0 || box.y + s.height <= p->rows) return box;
        }
        box.x = box.y = box.z = 0;
    }
    if (box.device) box.device += p->first;
    else box.host = p->in->host + p->first;
    return box;
}
static void copy_box(world *w, const place *to, const place *from, shape s, int now) {
    gpuexec_copy_desc c;
    memset(&c, 0, sizeof c);
    c.to = box_of(w, to, s);
    c.from = box_of(w, from, s);
    c.width_bytes = s.width;
    c.height = s.height;
    c.depth = s.depth;
    if (!to->in->host && !from->in->host && below(w, 2)) {
        c.to.context = to->in == &w->at[OTHER] ? w->other : w->ctx;
        c.from.context = from->in == &w->at[OTHER] ? w->other : w->ctx;
    }
    copy_desc(w, &c, now);
}
/* Many copies into one region, each from another one to its own part of it. */
static void copy_parts(world *w, region *to, int now) {
    gpuexec_copy_part parts[PARTS];
    const size_t each = BYTES / PARTS, n = 1 + below(w, PARTS);
    size_t i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < n; i++) {
        region *from;
        place a, b;
        shape s = { 0, 1, 1 };
        do from = &w->at[below(w, REGIONS)];
        while (from == to || (from->host && to->host));
        a.in = to;
        b.in = from;
        a.pitch = b.pitch = a.rows = b.rows = 1;
        a.first = i * each + (below(w, 2) ? below(w, each / 2) : 0);
        b.first = below(w, 2) ? below(w, BYTES - each) : below(w, BYTES / 16 - 16) * 16;
        s.width = below(w, (i + 1) * each - a.first + 1);
        if (below(w, 3) == 0) a.first -= a.first % 16 <= a.first - i * each ? a.first % 16 : 0;
        model_copy(&a, &b, s);
        parts[i].to = to->host ? 0 : to->device + a.first;
        parts[i].to_host = to->host ? to->host + a.first : NULL;
        parts[i].from = from->host ? 0 : from->device + b.first;
        parts[i].from_host = from->host ? from->host + b.first : NULL;
        parts[i].bytes = s.width;
    }
    CHECK_OK(gpuexec_copy_many(now ? gpuexec_stream_legacy(w->ctx) : w->stream, parts, n));
    if (now) CHECK_OK(gpuexec_stream_sync(gpuexec_stream_legacy(w->ctx)));
}
/* A context fills only memory that it can access: the other device's does that itself, after the
   copies so far. */
static void fill_some(world *w, region *to, int now) {
    static const size_t words[] = { 1, 2, 4 };
    const int which = (int)below(w, 3), rows = (int)below(w, 2);
    const size_t word = words[which];
    const uint32_t value = test_random(&w->random),
                   mask = word == 4 ? UINT32_MAX : (1u << 8 * word) - 1;
    const gpuexec_context c = to == &w->at[OTHER] ? w->other : w->ctx;
    const gpuexec_stream q = w->stream;
    shape s = some_shape(w, 1 + rows);
    place a;
    gpuexec_ptr p;
    size_t n, pitch, h;
    s.width = (s.width + word - 1) / word * word;
    a = some_place(w, to, s, word);
    if (to == &w->at[OTHER]) {
        CHECK_OK(gpuexec_stream_sync(q));
        now = 1;
    }
    model_fill(&a, value, word, s);
    p = to->device + a.first;
    n = s.width / word;
    pitch = a.pitch;
    h = s.height;
    if (rows)
        fill_or_copy(c, q,
                ROWS(ON_DEVICE(p, pitch), OF_VALUE(value & mask, (unsigned)word), s.width, h), now);
    else if (now) CHECK_OK(gpuexec_fill_now(c, p, value & mask, (unsigned)word, n));
    else CHECK_OK(gpuexec_fill(q, p, value & mask, (unsigned)word, n));
}
/* Managed memory is passed as device memory, or as host memory. */
static void use_managed(world *w, int as_host) {
    region *m = &w->at[MANAGED];
    if (!w->managed) return;
    m->device = as_host ? 0 : w->managed;
    m->host = as_host ? (unsigned char *)gpuexec_managed_host(w->managed) : NULL;
}
/* Once the stream has finished, the host writes to managed memory; or its pages move, or get
   advice. */
static void touch_managed(world *w) {
    const int places[] = { GPUEXEC_HOST, 0, gpuexec_device_count() > 1 };
    const int where = places[below(w, 3)];
    gpuexec_managed_info info;
    CHECK_OK(gpuexec_managed_get_info(w->managed, BYTES, &info));
    if (below(w, 3) == 0 || !info.concurrent) {
        const size_t first = below(w, BYTES), n = below(w, BYTES - first + 1);
        unsigned char *host;
        CHECK_OK(gpuexec_stream_sync(w->stream));
        host = (unsigned char *)gpuexec_managed_host(w->managed);
        memset(host + first, where + 100, n);
        memset(w->at[MANAGED].model + first, where + 100, n);
    } else if (below(w, 2)) CHECK_OK(gpuexec_managed_prefetch(w->stream, w->managed, BYTES, where));
    else
        CHECK_OK(gpuexec_managed_advise(
                w->managed, BYTES, (gpuexec_advice)(1 + below(w, 6)), where));
}
static void step(world *w) {
    const int what = (int)below(w, 6), now = below(w, 3) == 0;
    region *to = &w->at[below(w, REGIONS)], *from;
    place a, b;
    shape s;
    use_managed(w, what != 4 && below(w, 3) == 0);
    if (what == 5) {
        if (w->managed) touch_managed(w);
        return;
    }
    do from = &w->at[below(w, REGIONS)];
    while (from == to || (from->host && to->host && what != 2));
    if (what == 3) copy_parts(w, to, now);
    else if (what == 4) fill_some(w, &w->at[below(w, PINNED)], now);
    else {
        s = some_shape(w, what + 1);
        a = some_place(w, to, s, 1);
        b = some_place(w, from, s, 1);
        model_copy(&a, &b, s);
        if (what == 0) copy_line(w, &a, &b, s.width, now);
        else if (what == 1) copy_rows(w, &a, &b, s, now);
        else copy_box(w, &a, &b, s, now);
    }
}
static void random_program(world *w, uint32_t seed) {
    unsigned char got[BYTES];
    unsigned i, k, bad = 0;
    w->random = seed * 2654435761u + 1;
    use_managed(w, (int)below(w, 2));
    for (k = 0; k < REGIONS; k++) {
        region *r = &w->at[k];
        for (i = 0; i < BYTES; i++) r->model[i] = (unsigned char)(test_random(&w->random) >> 8);
        if (r->host) memcpy(r->host, r->model, BYTES);
        else CHECK_OK(gpuexec_copy_in_now(w->ctx, r->device, r->model, BYTES));
    }
    for (i = 0; i < STEPS; i++) step(w);
    CHECK_OK(gpuexec_stream_sync(w->stream));
    for (k = 0; k < REGIONS; k++) {
        const region *r = &w->at[k];
        if (!r->host) CHECK_OK(gpuexec_copy_out_now(w->ctx, got, r->device, BYTES));
        bad += memcmp(r->host ? r->host : got, r->model, BYTES) != 0;
    }
    if (!CHECK_EQ(bad, 0)) printf("seed %u\n", seed);
}
TEST_MULTI(random_programs_of_copies) {
    world w = begin();
    uint32_t seed;
    for (seed = 1; seed <= PROGRAMS; seed++) random_program(&w, seed);
    free(w.at[PAGEABLE].host);
}

/* ---- which boxes overlap ---- */

/* Whether two boxes of one shape, pitch and slice have a byte in common, byte by byte. */
static int have_common_bytes(size_t a, size_t b, shape s, size_t pitch, size_t rows) {
    static unsigned char seen[BYTES];
    size_t x, y, z;
    memset(seen, 0, sizeof seen);
    for (z = 0; z < s.depth; z++)
        for (y = 0; y < s.height; y++)
            for (x = 0; x < s.width; x++) seen[a + (z * rows + y) * pitch + x] = 1;
    for (z = 0; z < s.depth; z++)
        for (y = 0; y < s.height; y++)
            for (x = 0; x < s.width; x++)
                if (seen[b + (z * rows + y) * pitch + x]) return 1;
    return 0;
}
TEST(only_boxes_that_overlap_are_refused) {
    world w = begin();
    unsigned i, overlap = 0, wrong = 0;
    for (i = 0; i < 3000; i++) {
        gpuexec_copy_desc c;
        shape s = { 1 + below(&w, 5), 1 + below(&w, 3), 1 + below(&w, 3) };
        size_t pitch = s.width + below(&w, 4), rows = s.height + below(&w, 3), a = below(&w, 100),
               b = below(&w, 100);
        int both = a != b && have_common_bytes(a, b, s, pitch, rows);
        memset(&c, 0, sizeof c);
        c.to.device = w.at[DEVICE].device + a;
        c.from.device = w.at[DEVICE].device + b;
        c.to.pitch = c.from.pitch = pitch;
        c.to.slice_height = c.from.slice_height = rows;
        c.width_bytes = s.width;
        c.height = s.height;
        c.depth = s.depth;
        overlap += (unsigned)both;
        wrong += (gpuexec_copy_with(w.stream, &c) != GPUEXEC_OK) != both;
        if (both) wrong += gpuexec_take_error() != GPUEXEC_BAD_ARGUMENT;
    }
    CHECK_EQ(wrong, 0);
    CHECK(overlap > 300 && overlap < 2700);
    free(w.at[PAGEABLE].host);
}

/* ---- what is refused, and with which words ---- */

static gpuexec_copy_desc good_box(const world *w) {
    gpuexec_copy_desc c;
    memset(&c, 0, sizeof c);
    c.to.device = w->at[DEVICE].device;
    c.to.pitch = 20;
    c.to.slice_height = 10;
    c.from.host = w->at[PINNED].host;
    c.width_bytes = 16;
    c.height = 8;
    c.depth = 4;
    return c;
}
#define BOX(...) \
    do { \
        CHECK_REFUSED(gpuexec_copy_with(w.stream, &c), GPUEXEC_BAD_ARGUMENT, "gpuexec_copy_with", \
                __VA_ARGS__); \
        c = good_box(&w); \
    } while (0)
TEST(boxes_that_are_refused) {
    world w = begin();
    gpuexec_copy_desc c = good_box(&w);
    CHECK_OK(gpuexec_copy_with(w.stream, &c));
    CHECK_REFUSED(gpuexec_copy_with(w.stream, NULL), GPUEXEC_BAD_ARGUMENT, "the copy is NULL");
    c.start_canary = 1;
    BOX("gpuexec_copy_desc was not zero-initialized");
    c.to.x = 5;
    BOX("4 slices of 8 rows of 16 bytes", "to.x (5) plus width_bytes (16) exceeds to.pitch (20)",
            "cure:");
    c.from.x = 1;
    BOX("from.x (1) plus width_bytes (16) exceeds from.pitch (16)", "0 means width_bytes");
    c.to.y = 3;
    BOX("to.y (3) plus height (8) exceeds to.slice_height (10)", "cure:");
    c.from.y = 1;
    BOX("from.y (1) plus height (8) exceeds from.slice_height (8)");
    c.to.slice_height = 7;
    BOX("to.y (0) plus height (8) exceeds to.slice_height (7)");
    c.to.host = c.from.host;
    BOX("the destination has both a device address and a host pointer", "cure:");
    c.from.host = NULL;
    BOX("the source has neither a device address nor a host pointer");
    c.to.z = 27;
    BOX("the copy needs 756", "only 600 bytes remain");
    c.to.pitch = (size_t)1 << 61;
    BOX("no allocation is that large");
    c.to.z = (size_t)1 << 58;
    BOX("no allocation is that large");
    c.depth = (size_t)1 << 60;
    BOX("no allocation is that large");
    c.from.host = NULL;
    c.from.device = w.at[DEVICE].device + 8;
    c.from.pitch = 20;
    c.from.slice_height = 10;
    BOX("overlap");
    c.bytes = 16;
    BOX("bytes is 16, but the desc also describes a box (width_bytes 16, height 8, depth 4)",
            "cure:");
    c.from.element_bytes = 4;
    BOX("the source specifies both memory and a fill value", "cure:");
    c.from.host = NULL;
    c.from.element_bytes = 3;
    BOX("an element is 3 bytes; it must be 1, 2 or 4");
    c.from.host = NULL;
    c.from.element_bytes = 1;
    c.from.value = 256;
    BOX("the value 0x100 does not fit into 1 byte", "cure:");
    c.from.host = NULL;
    c.from.element_bytes = 1;
    BOX("cannot fill 4 slices of 8 rows of 16 bytes: a fill can cover only one slice", "cure:");
    c.from.host = NULL;
    c.from.element_bytes = 4;
    c.depth = 0;
    c.width_bytes = 15;
    BOX("a row of 15 bytes is not a whole number of 4-byte elements");
    c.to.host = c.from.host;
    c.from.host = NULL;
    c.to.device = 0;
    c.from.element_bytes = 1;
    BOX("the destination is host memory, which the device cannot fill", "gpuexec_pinned_address");
    c.depth = 0;           /* means 1 */
    c.to.slice_height = 1; /* means nothing without a second slice */
    CHECK_OK(gpuexec_copy_with(w.stream, &c));
    c = good_box(&w);
    c.height = 0;
    c.to.x = 1000;
    CHECK_OK(gpuexec_copy_with(w.stream, &c)); /* nothing to copy */
    c.height = 8;
    c.width_bytes = 0;
    CHECK_OK(gpuexec_copy_with(w.stream, &c));
    CHECK_OK(gpuexec_stream_sync(w.stream));
    free(w.at[PAGEABLE].host);
}
TEST(words_that_are_not_aligned) {
    world w = begin();
    const gpuexec_ptr p = w.at[DEVICE].device;
    CHECK_REFUSED(gpuexec_copy_with(w.stream, ROWS(ON_DEVICE(p + 1, 20), OF_VALUE(1, 2), 2 * 2, 2)),
            GPUEXEC_BAD_ARGUMENT, "not a multiple of 2");
    CHECK_REFUSED(gpuexec_copy_with(w.stream, ROWS(ON_DEVICE(p, 21), OF_VALUE(1, 2), 2 * 2, 2)),
            GPUEXEC_BAD_ARGUMENT, "pitch of the destination is 21", "not a multiple of 2");
    CHECK_REFUSED(gpuexec_copy_with(w.stream, ROWS(ON_DEVICE(p, 22), OF_VALUE(1, 4), 4 * 2, 2)),
            GPUEXEC_BAD_ARGUMENT, "22", "not a multiple of 4");
    CHECK_REFUSED(gpuexec_copy_with(w.stream, ROWS(ON_DEVICE(p, 12), OF_VALUE(1, 4), 4 * 4, 2)),
            GPUEXEC_BAD_ARGUMENT, "is 12 bytes, less than the 16 bytes of a row");
    CHECK_REFUSED(gpuexec_copy_with(w.stream, ROWS(ON_DEVICE(p, 1000), OF_VALUE(1, 4), 1000, 7)),
            GPUEXEC_BAD_ARGUMENT, "only 6000 bytes remain", "the fill needs 7000");
    free(w.at[PAGEABLE].host);
}

/* ---- arrays of copies ---- */

TEST(arrays_that_are_refused) {
    world w = begin();
    gpuexec_copy_part parts[3];
    unsigned char got[16];
    unsigned i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 3; i++) {
        parts[i].to = w.at[DEVICE].device + 16 * i;
        parts[i].from = w.at[OTHER].device;
        parts[i].bytes = 16;
    }
    CHECK_OK(gpuexec_fill_now(w.ctx, w.at[DEVICE].device, 7, 1, BYTES));
    CHECK_OK(gpuexec_copy_many(w.stream, NULL, 0));
    CHECK_REFUSED(gpuexec_copy_many(w.stream, NULL, 3), GPUEXEC_BAD_ARGUMENT, "\"copies\" is NULL");
    parts[2].to = 0;
    CHECK_REFUSED(gpuexec_copy_many(w.stream, parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[2]: cannot copy 16 bytes", "the destination has neither", "to_host");
    parts[2].to_host = w.at[PINNED].host;
    parts[1].from_host = w.at[PINNED].host;
    CHECK_REFUSED(gpuexec_copy_many(w.stream, parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[1]: ", "the source has both");
    parts[1].from = 0;
    parts[1].to = 0;
    parts[1].to_host = w.at[PAGEABLE].host;
    CHECK_REFUSED(gpuexec_copy_many(w.stream, parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[1]: ", "use memcpy");
    parts[1].bytes = 0;
    parts[2].to_host = NULL;
    parts[2].to = w.at[DEVICE].device + BYTES - 15;
    CHECK_REFUSED(gpuexec_copy_many(w.stream, parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[2]: ", "only 15 bytes remain", "the copy needs 16", "copies.c:");
    CHECK_REFUSED(gpuexec_copy_many(gpuexec_stream_legacy(w.ctx), parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[2]: ");
    CHECK_OK(gpuexec_copy_out_now(w.ctx, got, w.at[DEVICE].device, 16));
    for (i = 0; i < 16; i++) CHECK_EQ(got[i], 7); /* none of them was made */
    free(w.at[PAGEABLE].host);
}

/* All sizes and alignments between device addresses, more than one launch of the kernel takes, and
   larger than it takes. */
TEST(many_copies_within_the_device) {
    enum { each = 5000, count = 400, large = 3 << 20 };
    world w = begin();
    const size_t bytes = (size_t)each * count + large;
    gpuexec_ptr from = gpuexec_alloc(w.ctx, bytes), to = gpuexec_alloc(w.ctx, bytes);
    unsigned char *model = (unsigned char *)malloc(bytes), *source = (unsigned char *)malloc(bytes);
    gpuexec_copy_part *parts = (gpuexec_copy_part *)calloc(count + 1, sizeof *parts);
    size_t i;
    if (!CHECK(model && source && parts)) return;
    for (i = 0; i < bytes; i++) source[i] = (unsigned char)(test_random(&w.random) >> 8);
    memset(model, 5, bytes);
    CHECK_OK(gpuexec_fill_now(w.ctx, to, 5, 1, bytes));
    CHECK_OK(gpuexec_copy_in_now(w.ctx, from, source, bytes));
    for (i = 0; i < count; i++) {
        const size_t a = i * each + (i % 3 ? 0 : i % 16),
                     b = (count - 1 - i) * each + (i % 4 ? 0 : i % 16);
        parts[i].to = to + a;
        parts[i].from = from + b;
        parts[i].bytes = i % 5 == 0 ? i % 40 : each - 16 - i % 16;
        memcpy(model + a, source + b, parts[i].bytes);
    }
    parts[count].to = to + (size_t)each * count;
    parts[count].from = from + (size_t)each * count;
    parts[count].bytes = large;
    memcpy(model + (size_t)each * count, source + (size_t)each * count, large);
    CHECK_OK(gpuexec_copy_many(w.stream, parts, count + 1));
    CHECK_OK(gpuexec_copy_out(w.stream, source, to, bytes));
    CHECK_OK(gpuexec_stream_sync(w.stream));
    CHECK_EQ(memcmp(source, model, bytes), 0);
    free(model);
    free(source);
    free(parts);
    free(w.at[PAGEABLE].host);
}

/* A capture records them, and the graph knows their memory; the stream of another library's capture
   also takes them. */
TEST(arrays_in_captures) {
    world w = begin();
    gpuexec_stream adopted = gpuexec_stream_from_native(w.ctx, gpuexec_stream_native(w.stream));
    gpuexec_ptr p = gpuexec_alloc(w.ctx, 256);
    gpuexec_copy_part parts[3];
    gpuexec_graph g = { 0 };
    unsigned char got[3] = { 0, 0, 0 };
    unsigned i, round;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 3; i++) {
        parts[i].to = p + i;
        parts[i].from_host = w.at[PINNED].host + i * 100;
        parts[i].bytes = 1;
    }
    parts[1].from_host = NULL;
    parts[1].from = w.at[DEVICE].device;
    CHECK_OK(gpuexec_fill_now(w.ctx, w.at[DEVICE].device, 40, 1, 4));
    for (round = 0; round < 2; round++) {
        GPUEXEC_CAPTURE(w.stream, &g)
        CHECK_OK(gpuexec_copy_many(round ? adopted : w.stream, parts, 3));
        CHECK_MADE(g);
        w.at[PINNED].host[0] = (unsigned char)(round + 1);
        w.at[PINNED].host[200] = (unsigned char)(round + 3);
        CHECK_OK(gpuexec_graph_launch(g, w.stream));
        CHECK_OK(gpuexec_copy_out(w.stream, got, p, 3));
        CHECK_OK(gpuexec_stream_sync(w.stream));
        CHECK_EQ(got[0], round + 1);
        CHECK_EQ(got[1], 40);
        CHECK_EQ(got[2], round + 3);
    }
    CHECK_OK(gpuexec_free(p));
    CHECK_REFUSED(gpuexec_graph_launch(g, w.stream), GPUEXEC_STALE_HANDLE,
            "256 bytes of device memory", "were freed at");
    free(w.at[PAGEABLE].host);
}

/* Another library captures on a stream of gpuexec: a batch, or a kernel that is loaded first, would
   break that. */
TEST(arrays_in_captures_of_other_libraries) {
    world w = begin();
    gpuexec_copy_part parts[8];
    void *graph = NULL;
    size_t nodes = 0;
    unsigned i;
    const driver_calls cu = calls_find();
    memset(parts, 0, sizeof parts);
    for (i = 0; i < 8; i++) {
        parts[i].to = w.at[DEVICE].device + i;
        if (i % 2) parts[i].from = w.at[POOL].device;
        else parts[i].from_host = w.at[PINNED].host;
        parts[i].bytes = 1;
    }
    CHECK_EQ(cu.cuStreamBeginCapture_v2(gpuexec_stream_native(w.stream), 0), 0);
    CHECK_OK(gpuexec_copy_many(w.stream, parts, 8));
    CHECK_EQ(cu.cuStreamEndCapture(gpuexec_stream_native(w.stream), &graph), 0);
    CHECK_EQ(cu.cuGraphGetNodes(graph, NULL, &nodes), 0);
    CHECK_EQ(nodes, 8);
    CHECK_EQ(cu.cuGraphDestroy(graph), 0);
    free(w.at[PAGEABLE].host);
}

/* On GPUEXEC_CURRENT, the destination of the first copy selects the stream. */
TEST(arrays_on_the_current_stream) {
    world w = begin();
    gpuexec_copy_part part;
    unsigned char got = 0;
    memset(&part, 0, sizeof part);
    part.to = w.at[DEVICE].device + 8;
    part.from_host = w.at[PINNED].host;
    part.bytes = 1;
    *w.at[PINNED].host = 77;
    CHECK_OK(gpuexec_copy_many(GPUEXEC_CURRENT, &part, 1));
    CHECK_OK(gpuexec_copy_out(GPUEXEC_CURRENT, &got, part.to, 1));
    CHECK_OK(gpuexec_stream_sync(gpuexec_context_stream(w.ctx)));
    CHECK_EQ(got, 77);
    part.from_host = NULL;
    CHECK_REFUSED(gpuexec_copy_many(GPUEXEC_CURRENT, &part, 1), GPUEXEC_BAD_ARGUMENT,
            "copies[0]: ", "the source has");
    free(w.at[PAGEABLE].host);
}
/* Empty copies do nothing, also at the beginning of the array. */
TEST(the_first_copies_on_the_current_stream_are_empty) {
    const setting s = set_up(UNIT_PTX, NULL, 64);
    gpuexec_copy_part parts[3];
    memset(parts, 0, sizeof parts);
    CHECK_OK(gpuexec_copy_many(GPUEXEC_CURRENT, NULL, 0));
    CHECK_OK(gpuexec_copy_many(GPUEXEC_CURRENT, parts, 3));
    parts[2].to = s.data;
    parts[2].from = s.data + 32;
    parts[2].bytes = 32;
    CHECK_OK(gpuexec_copy_many(GPUEXEC_CURRENT, parts, 3));
    CHECK_OK(gpuexec_context_sync(s.ctx));
    parts[2].to = 0;
    CHECK_REFUSED(gpuexec_copy_many(GPUEXEC_CURRENT, parts, 3), GPUEXEC_BAD_ARGUMENT,
            "copies[2]: ", "the destination has");
}

/* ---- which way an array of copies goes ---- */

enum { LAUNCHES, BATCHES, SINGLE, WAYS };
static int ways[WAYS];
static void count_ways(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level != GPUEXEC_LOG_TRACE) return;
    ways[LAUNCHES] += strncmp(text, "gpuexec: cuLaunchKernel ", 24) == 0;
    ways[BATCHES] += strncmp(text, "gpuexec: cuMemcpyBatchAsync ", 28) == 0;
    ways[SINGLE] += strncmp(text, "gpuexec: cuMemcpyDtoDAsync ", 27) == 0 ||
            strncmp(text, "gpuexec: cuMemcpyHtoDAsync ", 27) == 0;
}
static world begin_counting(void) {
    gpuexec_setup_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.trace = 1;
    desc.log = count_ways;
    CHECK_OK(gpuexec_setup(&desc));
    return begin();
}
/* Copies n parts of 4 bytes (one of `large`, if that is not 0) to the device; checks which calls of
   the driver that needed, and one of the copies. */
static void goes(world *w, gpuexec_stream s, int from, unsigned n, size_t large, int launches,
        int batches, int single) {
    static gpuexec_copy_part parts[600];
    unsigned i;
    uint32_t got = 0;
    gpuexec_ptr big = large ? gpuexec_alloc(w->ctx, 2 * large) : 0;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < n; i++) {
        parts[i].to = w->at[DEVICE].device + 4 * i;
        parts[i].from = w->at[from].host ? 0 : w->at[from].device + 4 * i;
        parts[i].from_host = w->at[from].host ? w->at[from].host + 4 * i : NULL;
        parts[i].bytes = 4;
    }
    if (large) {
        parts[0].to = big;
        parts[0].from = big + large;
        parts[0].bytes = large;
    }
    if (w->at[from].host) memset(w->at[from].host + 4 * (n - 1), (int)n, 4);
    else if (!gpuexec_stream_is_capturing(s))
        CHECK_OK(gpuexec_fill_now(from == OTHER ? w->other : w->ctx,
                w->at[from].device + 4 * (n - 1), (unsigned char)n, 1, 4));
    memset(ways, 0, sizeof ways);
    CHECK_OK(gpuexec_copy_many(s, parts, n));
    CHECK_EQ(ways[LAUNCHES], launches);
    CHECK_EQ(ways[BATCHES], batches);
    CHECK_EQ(ways[SINGLE], single);
    if (gpuexec_stream_is_capturing(s)) return;
    CHECK_OK(gpuexec_stream_sync(s));
    CHECK_OK(gpuexec_copy_out_now(w->ctx, &got, w->at[DEVICE].device + 4 * (n - 1), 4));
    CHECK_EQ(got, (n & 0xFF) * 0x01010101u);
    CHECK_OK(gpuexec_free(big));
}
TEST(ways_of_arrays) {
    world w;
    gpuexec_stream legacy;
    gpuexec_graph g = { 0 };
    int has;
    if (test_is_on("GPUEXEC_VALIDATION"))
        SKIP("gpuexec_copy_many does not use its kernel while the finder is on");
    w = begin_counting();
    legacy = gpuexec_stream_legacy(w.ctx);
    has = gpuexec_driver_version() >= 12080;
    goes(&w, w.stream, POOL, 171, 0, 2, 0, 0);
    goes(&w, legacy, POOL, 170, 0, 1, 0, 0);
    goes(&w, w.stream, POOL, 3, 0, 0, 0, 3);
    goes(&w, w.stream, POOL, 9, (1 << 20) + 1, 1, 0, 1);
    goes(&w, w.stream, POOL, 9, 1 << 20, 1, 0, 0);
    goes(&w, w.stream, PINNED, 171, 0, 2, 0, 0);
    goes(&w, w.stream, COMBINED, 513, 0, 0, has ? 2 : 0, has ? 0 : 513);
    goes(&w, w.stream, PAGEABLE, 20, 0, 0, 0, 20);
    goes(&w, legacy, PINNED, 20, 0, 1, 0, 0);
    goes(&w, legacy, COMBINED, 20, 0, 0, 0, 20);
    if (gpuexec_device_count() > 1) goes(&w, w.stream, OTHER, 20, 0, 0, 0, 20);
    GPUEXEC_CAPTURE(w.stream, &g) {
        goes(&w, w.stream, POOL, 20, 0, 0, 0, 20);
        goes(&w, w.stream, PINNED, 20, 0, 0, 0, 20);
    }
    CHECK_MADE(g);
    free(w.at[PAGEABLE].host);
}
TEST_ALONE(without_the_kernel) {
    world w;
    setenv("SIMGPU_FAIL", "cuModuleLoadDataEx:1:221", 1); /* CUDA_ERROR_JIT_COMPILER_NOT_FOUND */
    if (!on_cpu_device()) SKIP("needs the CPU device's failures");
    w = begin_counting();
    goes(&w, w.stream, POOL, 20, 0, 0, 0, 20);
    goes(&w, w.stream, PINNED, 20, 0, 0, gpuexec_driver_version() >= 12080,
            gpuexec_driver_version() >= 12080 ? 0 : 20);
    free(w.at[PAGEABLE].host);
}

/* Threads that need the kernel at the same time. */
static void *copies_of_a_thread(void *user) {
    const world *w = (const world *)user;
    gpuexec_stream s = gpuexec_stream_create(w->ctx, NULL);
    gpuexec_ptr p = gpuexec_alloc(w->ctx, BYTES);
    gpuexec_copy_part parts[PARTS];
    unsigned char got[PARTS];
    unsigned i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < PARTS; i++) {
        parts[i].to = p + i;
        parts[i].from = w->at[DEVICE].device + PARTS - 1 - i;
        parts[i].bytes = 1;
    }
    CHECK_OK(gpuexec_copy_many(s, parts, PARTS));
    CHECK_OK(gpuexec_copy_out(s, got, p, PARTS));
    CHECK_OK(gpuexec_stream_sync(s));
    for (i = 0; i < PARTS; i++) CHECK_EQ(got[i], PARTS - 1 - i);
    return NULL;
}
TEST(arrays_on_threads) {
    world w = begin();
    unsigned char numbers[PARTS];
    pthread_t threads[4];
    unsigned i;
    for (i = 0; i < PARTS; i++) numbers[i] = (unsigned char)i;
    CHECK_OK(gpuexec_copy_in_now(w.ctx, w.at[DEVICE].device, numbers, PARTS));
    for (i = 0; i < 4; i++) CHECK_EQ(pthread_create(&threads[i], NULL, copies_of_a_thread, &w), 0);
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    free(w.at[PAGEABLE].host);
}

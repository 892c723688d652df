/* copies.c - copies of boxes, arrays of copies, fills of rows with words: random programs of them beside a plain model,
   and what each refuses. */
#include "../test.h"

/* ---- random programs: the same copies and fills on the device and, byte by byte, in a model ---- */

enum { DEVICE, OTHER, POOL, PINNED, PAGEABLE, REGIONS, BYTES = 6000, PROGRAMS = 300, STEPS = 10, PARTS = 40 };

typedef struct region {
    gpuexec_ptr    device;                       /* 0: host memory */
    unsigned char *host;
    unsigned char  model[BYTES];
} region;
typedef struct world {
    gpuexec_context ctx, other;                  /* other: of another device, if there is one */
    gpuexec_stream  stream;
    region          at[REGIONS];
    uint32_t        random;
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
    if (!w.at[POOL].device) {                    /* no memory pools */
        CHECK_RESULT(gpuexec_take_error(), GPUEXEC_NOT_SUPPORTED);
        w.at[POOL].device = gpuexec_alloc(w.ctx, BYTES);
    }
    CHECK_OK(gpuexec_stream_sync(w.stream));
    w.at[PINNED].host = (unsigned char *)gpuexec_alloc_pinned(w.ctx, BYTES);
    w.at[PAGEABLE].host = (unsigned char *)malloc(BYTES);
    return w;
}

/* A box of a region: x is its first byte; the pitch and slice in bytes. */
typedef struct shape { size_t width, height, depth; } shape;
typedef struct place { region *in; size_t first, pitch, rows; } place;

static unsigned char *byte_of(const place *p, size_t x, size_t y, size_t z) {
    return p->in->model + p->first + (z * p->rows + y) * p->pitch + x;
}
static void model_copy(const place *to, const place *from, shape s) {
    size_t x, y, z;
    for (z = 0; z < s.depth; z++) for (y = 0; y < s.height; y++) for (x = 0; x < s.width; x++)
        *byte_of(to, x, y, z) = *byte_of(from, x, y, z);
}
static void model_fill(const place *to, uint32_t value, size_t word, shape s) {
    size_t x, y;
    for (y = 0; y < s.height; y++) for (x = 0; x < s.width; x++)
        *byte_of(to, x, y, 0) = (unsigned char)(value >> 8 * (x % word));
}

/* A random shape of that many dimensions, in which a box of it is at most BYTES / 2 large with any pitch below. */
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
    unsigned char    *h = to->in->host + (to->in->host ? to->first : 0);
    const unsigned char *g = from->in->host + (from->in->host ? from->first : 0);
    if (to->in->host) CHECK_OK(now ? gpuexec_copy_out_now(w->ctx, h, q, n) : gpuexec_copy_out(w->stream, h, q, n));
    else if (from->in->host) CHECK_OK(now ? gpuexec_copy_in_now(w->ctx, p, g, n) : gpuexec_copy_in(w->stream, p, g, n));
    else if (below(w, 3)) CHECK_OK(now ? gpuexec_copy_now(w->ctx, p, q, n) : gpuexec_copy(w->stream, p, q, n));
    else {
        const gpuexec_context a = to->in == &w->at[OTHER] ? w->other : w->ctx;
        const gpuexec_context b = from->in == &w->at[OTHER] ? w->other : w->ctx;
        CHECK_OK(now ? gpuexec_copy_peer_now(w->ctx, p, a, q, b, n) : gpuexec_copy_peer(w->stream, p, a, q, b, n));
    }
}
static void copy_rows(world *w, const place *to, const place *from, shape s, int now) {
    const gpuexec_ptr p = to->in->device + to->first, q = from->in->device + from->first;
    unsigned char    *h = to->in->host + (to->in->host ? to->first : 0);
    const unsigned char *g = from->in->host + (from->in->host ? from->first : 0);
    const size_t a = to->pitch, b = from->pitch, n = s.width, rows = s.height;
    if (to->in->host)
        CHECK_OK(now ? gpuexec_copy_out_2d_now(w->ctx, h, a, q, b, n, rows)
                     : gpuexec_copy_out_2d(w->stream, h, a, q, b, n, rows));
    else if (from->in->host)
        CHECK_OK(now ? gpuexec_copy_in_2d_now(w->ctx, p, a, g, b, n, rows)
                     : gpuexec_copy_in_2d(w->stream, p, a, g, b, n, rows));
    else
        CHECK_OK(now ? gpuexec_copy_2d_now(w->ctx, p, a, q, b, n, rows)
                     : gpuexec_copy_2d(w->stream, p, a, q, b, n, rows));
}
/* The place as a box, with its first byte divided into offsets where that is possible. */
static gpuexec_box box_of(world *w, const place *p, shape s) {
    gpuexec_box box;
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
    gpuexec_copy_3d_desc c;
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
    CHECK_OK(now ? gpuexec_copy_3d_now(w->ctx, &c) : gpuexec_copy_3d(w->stream, &c));
}
/* Many copies into one region, each from another one to its own part of it. */
static void copy_parts(world *w, region *to, int now) {
    gpuexec_copy_part parts[PARTS];
    const size_t each = BYTES / PARTS, n = 1 + below(w, PARTS);
    size_t i;
    memset(parts, 0, sizeof parts);
    for (i = 0; i < n; i++) {
        region *from;
        place   a, b;
        shape   s = { 0, 1, 1 };
        do from = &w->at[below(w, REGIONS)]; while (from == to || (from->host && to->host));
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
    CHECK_OK(now ? gpuexec_copy_many_now(w->ctx, parts, n) : gpuexec_copy_many(w->stream, parts, n));
}
/* A context fills only memory that it can access: the other device's does that itself, after the copies so far. */
static void fill_some(world *w, region *to, int now) {
    static const size_t words[] = { 1, 2, 4 };
    const int      which = (int)below(w, 3), rows = (int)below(w, 2);
    const size_t   word = words[which];
    const uint32_t value = test_random(&w->random);
    const gpuexec_context c = to == &w->at[OTHER] ? w->other : w->ctx;
    const gpuexec_stream  q = w->stream;
    shape       s = some_shape(w, 1 + rows);
    place       a;
    gpuexec_ptr p;
    size_t      n, pitch, h;
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
    if (word == 1 && rows) CHECK_OK(now ? gpuexec_fill_2d_now(c, p, pitch, (unsigned char)value, n, h)
                                        : gpuexec_fill_2d(q, p, pitch, (unsigned char)value, n, h));
    else if (word == 2 && rows) CHECK_OK(now ? gpuexec_fill16_2d_now(c, p, pitch, (unsigned short)value, n, h)
                                             : gpuexec_fill16_2d(q, p, pitch, (unsigned short)value, n, h));
    else if (rows) CHECK_OK(now ? gpuexec_fill32_2d_now(c, p, pitch, value, n, h)
                                : gpuexec_fill32_2d(q, p, pitch, value, n, h));
    else if (word == 1) CHECK_OK(now ? gpuexec_fill_now(c, p, (unsigned char)value, n)
                                     : gpuexec_fill(q, p, (unsigned char)value, n));
    else if (word == 2) CHECK_OK(now ? gpuexec_fill16_now(c, p, (unsigned short)value, n)
                                     : gpuexec_fill16(q, p, (unsigned short)value, n));
    else CHECK_OK(now ? gpuexec_fill32_now(c, p, value, n) : gpuexec_fill32(q, p, value, n));
}
static void step(world *w) {
    const int what = (int)below(w, 5), now = below(w, 3) == 0;
    region   *to = &w->at[below(w, REGIONS)], *from;
    place     a, b;
    shape     s;
    do from = &w->at[below(w, REGIONS)]; while (from == to || (from->host && to->host && what != 2));
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
    unsigned      i, k, bad = 0;
    w->random = seed * 2654435761u + 1;
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
    world    w = begin();
    uint32_t seed;
    for (seed = 1; seed <= PROGRAMS; seed++) random_program(&w, seed);
    free(w.at[PAGEABLE].host);
}

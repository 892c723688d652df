/* ldst_type.h - the loads and stores of one type. ldst.c includes it for each, and defines

     LOAD           the type in the names of loads: u8 in ld_global_u8
     STORE          in the names of stores: 8 in st_global_8; not defined: no stores
     MEMORY, LANE   the type in memory; that of a lane of a register

   n is the number of elements of a lane: 1, 2 or 4. What is not a whole warp, or has no pattern,
   goes through load_any and store_any: all lanes at once if one span contains all addresses, else
   one by one. In local memory the lanes' stacks are `stride` apart. */

#define SIZE(n) ((unsigned)sizeof(MEMORY) * (n))

/* d[k][l] = element k of lane l; n is a constant where it matters */
static INLINE void NAME(gather_, LOAD)(
        LANE *const *d, uintptr_t from, const u64 *offset, uint64_t stride, unsigned n) {
    for (unsigned l = 0; l < 32; l++) {
        const MEMORY *p = (const MEMORY *)(from + offset[l] + l * stride);
        for (unsigned k = 0; k < n; k++) d[k][l] = (LANE)p[k];
    }
}
static INLINE void NAME(gather_near_, LOAD)(
        LANE *const *d, const unsigned char *from, const u32 *offset, unsigned n) {
    for (unsigned l = 0; l < 32; l++) {
        const MEMORY *p = (const MEMORY *)(const void *)(from + offset[l]);
        for (unsigned k = 0; k < n; k++) d[k][l] = (LANE)p[k];
    }
}

static NOINLINE void NAME(load_far_, LOAD)(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, enum sim_space space) {
    const unsigned n = i->width;
    const bool strong = i->flags & SIM_I_STRONG;
    u64 addr[32];
    struct span s = { 0 };
    LANE *d[4] = { NULL }, changed = 0;
    const bool one = locate(w, i, m, space, SIZE(n), addr, &s);
    for (unsigned k = 0; k < n; k++) d[k] = SIM_AT(LANE, element(i, k));
    if (one && !strong && m == ~0u) {
        if (n == 1) NAME(gather_, LOAD)(d, s.host, addr, s.stride, 1);
        else if (n == 2) NAME(gather_, LOAD)(d, s.host, addr, s.stride, 2);
        else NAME(gather_, LOAD)(d, s.host, addr, s.stride, 4);
        return;
    }
    SIM_EACH_LANE (m) {
        u64 copy[4];
        const MEMORY *p = one ? (const MEMORY *)(s.host + addr[l] + l * s.stride)
                : i->unused   ? sim_at_used(w, i, (int)l, space, addr[l], SIZE(n), copy)
                              : sim_at(w, i, (int)l, space, addr[l], SIZE(n), "load");
        if (!p) return;
        for (unsigned k = 0; k < n; k++) {
            const LANE v = (LANE)__atomic_load_n(p + k, __ATOMIC_RELAXED);
            changed |= d[k][l] ^ v;
            d[k][l] = v;
        }
    }
    if (!strong) return;
    if (changed) w->progress = true;
    else w->spin = true;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static NOINLINE void NAME(load_any_, LOAD)(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, enum sim_space space) {
    const unsigned n = i->width;
    unsigned char *start;
    u32 offset[32];
    if (n == 1 && side_by_side(w, i, m, space, SIZE(1), &start)) {
        const MEMORY *p = (const MEMORY *)(const void *)start;
        LANE *d = SIM_AT(LANE, i->d);
        SIM_LANES
            d[l] = SIM_ON(m) ? (LANE)p[l] : d[l];
    } else if (space == SIM_SHARED && locate_shared(w, i, m, SIZE(n), offset)) {
        const unsigned char *shared = w->block->shared;
        LANE *d[4];
        for (unsigned k = 0; k < n; k++) d[k] = SIM_AT(LANE, element(i, k));
        if (m != ~0u)
            SIM_EACH_LANE (m)
                for (unsigned k = 0; k < n; k++)
                    d[k][l] = (LANE)((const MEMORY *)(const void *)(shared + offset[l]))[k];
        else if (n == 1) NAME(gather_near_, LOAD)(d, shared, offset, 1);
        else if (n == 2) NAME(gather_near_, LOAD)(d, shared, offset, 2);
        else NAME(gather_near_, LOAD)(d, shared, offset, 4);
    } else NAME(load_far_, LOAD)(w, i, m, space);
}

static INLINE void NAME(load_side_, LOAD)(OF_HALVES, unsigned n) {
    for (unsigned h = 0; h < 2; h++) {
        const MEMORY *p = (const MEMORY *)(const void *)(h ? second : first);
        LANE *d[4];
        for (unsigned k = 0; k < n; k++) d[k] = SIM_AT(LANE, element(i, k)) + 16 * h;
        HALF_LANES for (unsigned k = 0; k < n; k++) d[k][l] = (LANE)p[n * l + k];
    }
}
static NOINLINE void NAME(load_side1_, LOAD)(OF_HALVES) {
    NAME(load_side_, LOAD)(w, i, first, second, 1);
}
static NOINLINE void NAME(load_side2_, LOAD)(OF_HALVES) {
    NAME(load_side_, LOAD)(w, i, first, second, 2);
}
static NOINLINE void NAME(load_side4_, LOAD)(OF_HALVES) {
    NAME(load_side_, LOAD)(w, i, first, second, 4);
}

static INLINE void NAME(load_same_, LOAD)(OF_HALVES, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        const LANE u = (LANE)((const MEMORY *)(const void *)first)[k],
                   v = (LANE)((const MEMORY *)(const void *)second)[k];
        LANE *d = SIM_AT(LANE, element(i, k));
        HALF_LANES d[l] = u;
        HALF_LANES d[16 + l] = v;
    }
}

static NOINLINE void NAME(load_same1_, LOAD)(OF_HALVES) {
    NAME(load_same_, LOAD)(w, i, first, second, 1);
}
static NOINLINE void NAME(load_same4_, LOAD)(OF_HALVES) {
    NAME(load_same_, LOAD)(w, i, first, second, i->width);
}

static NOINLINE void NAME(load_stack_, LOAD)(OF_HALVES) {
    for (unsigned k = 0; k < i->width; k++) {
        LANE *d = SIM_AT(LANE, element(i, k));
        for (unsigned l = 0; l < 32; l++)
            d[l] = (LANE)((const MEMORY *)(const void *)((l < 16 ? first : second) +
                    l * w->local_stride))[k];
    }
}

#define LOAD_WAYS(n, same) \
    { \
        NAME(load_any_, LOAD), NAME(load_side##n##_, LOAD), NAME(load_##same##_, LOAD), \
                NAME(load_stack_, LOAD) \
    }
static const struct ways NAME(
        load_ways_, LOAD)[3] = { LOAD_WAYS(1, same1), LOAD_WAYS(2, same4), LOAD_WAYS(4, same4) };
EACH_SPACE(ld, LOAD, NAME(load_ways_, LOAD))

SIM_HANDLER(NAME(ld_param_at_, LOAD)) { NAME(load_any_, LOAD)(w, i, m, SIM_PARAM); }

/* a kernel's parameter at a fixed offset: the same for all lanes; decode.c checked the bounds */
SIM_HANDLER(NAME(ld_param_, LOAD)) {
    for (unsigned k = 0; k < i->width; k++) {
        MEMORY t;
        memcpy(&t, w->block->grid->params + i->imm + SIZE(k), sizeof t);
        const LANE v = (LANE)t;
        LANE *d = SIM_AT(LANE, element(i, k));
        SIM_LANES
            d[l] = SIM_ON(m) ? v : d[l];
    }
}

#ifdef STORE
static INLINE void NAME(scatter_near_, STORE)(
        const LANE *const *v, unsigned char *to, const u32 *offset, unsigned n) {
    for (unsigned l = 0; l < 32; l++) {
        MEMORY *p = (MEMORY *)(void *)(to + offset[l]);
        for (unsigned k = 0; k < n; k++) p[k] = (MEMORY)v[k][l];
    }
}

static NOINLINE void NAME(store_far_, STORE)(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, enum sim_space space) {
    const unsigned n = i->width;
    u64 addr[32];
    struct span s = { 0 };
    const bool one = locate(w, i, m, space, SIZE(n), addr, &s);
    const LANE *v[4] = { NULL };
    for (unsigned k = 0; k < n; k++) v[k] = SIM_AT(LANE, element(i, k));
    if (i->flags & SIM_I_STRONG) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    SIM_EACH_LANE (m) {
        MEMORY *p = one ? (MEMORY *)(s.host + addr[l] + l * s.stride)
                        : sim_at(w, i, (int)l, space, addr[l], SIZE(n), "store");
        if (!p) return;
        for (unsigned k = 0; k < n; k++) __atomic_store_n(p + k, (MEMORY)v[k][l], __ATOMIC_RELAXED);
    }
}

static NOINLINE void NAME(store_any_, STORE)(
        struct sim_warp *w, const struct sim_insn *i, uint32_t m, enum sim_space space) {
    const unsigned n = i->width;
    unsigned char *start;
    u32 offset[32];
    if (n == 1 && side_by_side(w, i, m, space, SIZE(1), &start)) {
        MEMORY *p = (MEMORY *)(void *)start;
        const LANE *v = SIM_AT(LANE, i->d);
        SIM_LANES
            if (SIM_ON(m)) p[l] = (MEMORY)v[l];
    } else if (space == SIM_SHARED && locate_shared(w, i, m, SIZE(n), offset)) {
        unsigned char *shared = w->block->shared;
        const LANE *v[4];
        for (unsigned k = 0; k < n; k++) v[k] = SIM_AT(LANE, element(i, k));
        if (m != ~0u)
            SIM_EACH_LANE (m)
                for (unsigned k = 0; k < n; k++)
                    ((MEMORY *)(void *)(shared + offset[l]))[k] = (MEMORY)v[k][l];
        else if (n == 1) NAME(scatter_near_, STORE)(v, shared, offset, 1);
        else if (n == 2) NAME(scatter_near_, STORE)(v, shared, offset, 2);
        else NAME(scatter_near_, STORE)(v, shared, offset, 4);
    } else NAME(store_far_, STORE)(w, i, m, space);
}

static INLINE void NAME(store_side_, STORE)(OF_HALVES, unsigned n) {
    for (unsigned h = 0; h < 2; h++) {
        MEMORY *p = (MEMORY *)(void *)(h ? second : first);
        const LANE *v[4];
        for (unsigned k = 0; k < n; k++) v[k] = SIM_AT(LANE, element(i, k)) + 16 * h;
        HALF_LANES for (unsigned k = 0; k < n; k++) p[n * l + k] = (MEMORY)v[k][l];
    }
}
static NOINLINE void NAME(store_side1_, STORE)(OF_HALVES) {
    NAME(store_side_, STORE)(w, i, first, second, 1);
}
static NOINLINE void NAME(store_side2_, STORE)(OF_HALVES) {
    NAME(store_side_, STORE)(w, i, first, second, 2);
}
static NOINLINE void NAME(store_side4_, STORE)(OF_HALVES) {
    NAME(store_side_, STORE)(w, i, first, second, 4);
}

/* The last lane's value remains. */
static NOINLINE void NAME(store_same_, STORE)(OF_HALVES) {
    for (unsigned k = 0; k < i->width; k++) {
        const LANE *v = SIM_AT(LANE, element(i, k));
        ((MEMORY *)(void *)first)[k] = (MEMORY)v[15];
        ((MEMORY *)(void *)second)[k] = (MEMORY)v[31];
    }
}

static NOINLINE void NAME(store_stack_, STORE)(OF_HALVES) {
    for (unsigned k = 0; k < i->width; k++) {
        const LANE *v = SIM_AT(LANE, element(i, k));
        for (unsigned l = 0; l < 32; l++)
            ((MEMORY *)(void *)((l < 16 ? first : second) + l * w->local_stride))[k] = (MEMORY)v[l];
    }
}

#define STORE_WAYS(n) \
    { \
        NAME(store_any_, STORE), NAME(store_side##n##_, STORE), NAME(store_same_, STORE), \
                NAME(store_stack_, STORE) \
    }
static const struct ways NAME(
        store_ways_, STORE)[3] = { STORE_WAYS(1), STORE_WAYS(2), STORE_WAYS(4) };
EACH_SPACE(st, STORE, NAME(store_ways_, STORE))
#endif

#undef LOAD_WAYS
#undef STORE_WAYS
#undef LOAD
#undef STORE
#undef MEMORY
#undef LANE
#undef SIZE

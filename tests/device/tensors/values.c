/* values.c - the input of a fragment: ordinary and hostile values, by its class, fragment % 16.
   They depend on the form's name and the fragment's number alone. */
#include "tensors.h"

static uint64_t state;
static uint32_t any(void) { /* Steele, Lea and Flood's SplitMix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 16);
}
static uint64_t any64(void) {
    const uint64_t high = any();
    return high << 32 | any();
}
static int below(int n) { return (int)(any() % (unsigned)n); }
static bool one_in(int n) { return below(n) == 0; }

enum role { A, B, C };
enum class {
    ORDINARY,     /* between 1/4 and 2 */
    INTEGERS,     /* small ones */
    WIDE,         /* any finite number */
    ANY,          /* any bits */
    POWERS,       /* of two, few of them */
    CANCELLATION, /* 4 magnitudes with any sign */
    RESIDUE,      /* the same, with small numbers between them */
    SUBNORMAL,
    STRANGE, /* some NaN, infinities, zeros, largest and smallest numbers */
    SINGLE,  /* few products, with an accumulator of any magnitude */
    TIES,    /* the accumulator has low bits; products are powers of two below it */
    LARGE,   /* close to the largest number */
    OFFSET,  /* ordinary, and a large or small accumulator */
    ONE_OF_A /* which element of b meets which element of a */,
    ONE_OF_B,
    COUNT /* equal products, and one accumulator */
};
/* of a fragment: the element that is 1, and exponents */
static struct {
    enum class class;
    unsigned hot;
    int product, accumulator;
    uint64_t pool[3][4];
} now;

struct format {
    int exponent, mantissa;
};
static struct format format_of(const struct tsr_operand *o) {
    static const struct {
        const char *name;
        struct format f;
    } list[] = { { "f16", { 5, 10 } }, { "bf16", { 8, 7 } }, { "tf32", { 8, 23 } },
        { "f32", { 8, 23 } }, { "f64", { 11, 52 } }, { "e4m3", { 4, 3 } }, { "e5m2", { 5, 2 } } };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (!strcmp(o->type, list[k].name)) return list[k].f;
    return (struct format){ 0, 0 };
}

/* e: the exponent of two; too large or small ones are the largest or smallest normal one */
static uint64_t number(struct format f, unsigned sign, int e, uint64_t mantissa) {
    const int bias = (1 << (f.exponent - 1)) - 1, most = 2 * bias;
    int biased = e + bias;
    if (biased < 1) biased = 1;
    if (biased > most) biased = most;
    return (uint64_t)sign << (f.exponent + f.mantissa) | (uint64_t)biased << f.mantissa |
            (mantissa & (((uint64_t)1 << f.mantissa) - 1));
}

static uint64_t strange(struct format f) {
    const uint64_t one = 1, sign = (uint64_t)below(2) << (f.exponent + f.mantissa),
                   infinity = ((one << f.exponent) - 1) << f.mantissa;
    const uint64_t payload = any64() & ((one << f.mantissa) - 1);
    switch (below(7)) {
    case 0: return sign;
    case 1:
    case 2: return sign | infinity;
    case 3: return sign | infinity | payload;
    case 4: return sign | (infinity - 1); /* the largest */
    case 5: return sign | 1;              /* the smallest */
    default: return sign | one << f.mantissa;
    }
}

static uint64_t ordinary(struct format f, int offset) {
    const unsigned sign = (unsigned)below(2);
    const int e = offset - below(3);
    return number(f, sign, e, any64());
}

/* Every kind of an accumulator far from the products. */
static int far(struct format f) {
    const int bias = (1 << (f.exponent - 1)) - 1, most = bias < 60 ? bias : 60;
    return below(2 * most) - most;
}

static uint64_t floating(const struct tsr_operand *o, enum role role) {
    const struct format f = format_of(o);
    const unsigned sign = (unsigned)below(2);
    const int bias = (1 << (f.exponent - 1)) - 1;
    const uint64_t mantissa = any64();
    switch (now.class) {
    case ORDINARY: return ordinary(f, 0);
    case INTEGERS: {
        static const unsigned char e[] = { 0, 1, 1, 2 }, m[] = { 0, 0, 1, 0 };
        const int k = below(5);
        return k == 4 ? 0 : number(f, sign, e[k], (uint64_t)m[k] << (f.mantissa - 1));
    }
    case WIDE: return number(f, sign, below(2 * bias) - bias + 1, mantissa);
    case ANY: return any64();
    case POWERS:
        if (role != C && !one_in(role == A ? 2 : 3)) return 0;
        return number(f, sign, role == C ? far(f) : below(28) - 14, 0);
    case RESIDUE:
        if (one_in(4)) return number(f, sign, -now.product, mantissa);
        /* fall through */
    case CANCELLATION:
        if (role == C && one_in(2)) return one_in(2) ? 0 : number(f, sign, -below(30), mantissa);
        return (now.pool[role][below(4)] & ~((uint64_t)1 << (f.exponent + f.mantissa))) |
                (uint64_t)sign << (f.exponent + f.mantissa);
    case SUBNORMAL:
        if (one_in(2)) {
            const uint64_t small = mantissa & (((uint64_t)1 << f.mantissa) - 1);
            return (uint64_t)sign << (f.exponent + f.mantissa) | small;
        }
        return number(f, sign, role == C ? -bias + below(10) : -below(bias), mantissa);
    case STRANGE: return one_in(role == C ? 8 : 40) ? strange(f) : ordinary(f, 0);
    case SINGLE:
        if (role == A && !one_in(6)) return 0;
        return role == C ? number(f, sign, far(f), mantissa) : ordinary(f, 0);
    case TIES:
        if (role == A) return one_in(3) ? number(f, sign, 0, 0) : 0;
        if (role == B) { /* in this order: that of arguments depends on the compiler */
            const uint64_t low = one_in(2) ? 0 : mantissa;
            return number(f, sign, -below(28), low);
        }
        return number(f, sign, 0, one_in(2) ? mantissa | 1 : ~(uint64_t)0 << below(3));
    case LARGE: return number(f, sign, bias - below(role == C ? 3 : 9), mantissa);
    case OFFSET: return ordinary(f, role == C ? now.accumulator : 0);
    case ONE_OF_A:
    case ONE_OF_B:
        return role == C ? 0 : number(f, sign, below(7) - 3, mantissa & ~(uint64_t)0x1fff);
    default: /* COUNT */
        if (role == A) return number(f, now.hot & 1, 0, 0);
        return number(f, role == B ? 0 : now.hot >> 1 & 1,
                role == B ? -now.product : now.accumulator, role == C ? now.hot >> 2 & 3 : 0);
    }
}

static uint64_t integer(const struct tsr_operand *o, enum role role) {
    const uint32_t bits = any();
    const int e = below(4096);
    if (role == C) switch (now.class % 4) {
        case 0: return 0;
        case 1: return bits;
        case 2: return 0x7fffffffu - (uint32_t)e;
        default: return 0x80000000u + (uint32_t)e;
        }
    switch (now.class) {
    case POWERS: return one_in(6) ? bits : 0;
    case LARGE:
    case CANCELLATION: return one_in(2) ? ~0u : 1u << (o->bits - 1);
    case COUNT: return o->type[0] == 's' ? 1u << (o->bits - 1) : ~0u;
    case TIES: return o->type[0] == 's' ? (1u << (o->bits - 1)) - 1 : ~0u;
    default: return bits;
    }
}

static uint64_t element(const struct tsr_operand *o, enum role role, unsigned index) {
    const bool is_float = format_of(o).exponent;
    uint64_t v = is_float ? floating(o, role) : integer(o, role);
    if (role == C && (now.class == ONE_OF_A || now.class == ONE_OF_B)) return 0;
    if ((now.class == ONE_OF_A && role == A) || (now.class == ONE_OF_B && role == B)) {
        if (index != now.hot % (o->words * 1024 / o->bits)) return 0;
        return is_float ? number(format_of(o), 0, 0, 0) : 1;
    }
    return v;
}

static void fill_operand(const struct tsr_operand *o, enum role role, uint32_t lanes[32][TSR_IN]) {
    if (!o->words) return;
    const struct format half = { 5, 10 }, f = format_of(o);
    for (unsigned k = 0; k < 4; k++)
        now.pool[role][k] = ordinary(f.exponent ? f : half, 1); /* integers do not use it */
    for (unsigned index = 0; index < o->words * 1024 / o->bits; index++) {
        const unsigned per_lane = o->words * 32 / o->bits, at = index % per_lane * o->bits;
        uint32_t *w = &lanes[index / per_lane][o->first + at / 32];
        const uint64_t v = element(o, role, index);
        if (o->bits >= 32) memcpy(w, &v, o->bits / 8);
        else *w |= (uint32_t)(v & ((1u << o->bits) - 1)) << at % 32;
    }
}

/* Which two of four elements: the lower one is first. Of tf32, one of two: two halves each. */
static uint32_t metadata(const struct tsr_form *f) {
    static const unsigned char pairs[] = { 4, 8, 9, 12, 13, 14 };
    uint32_t word = 0;
    for (unsigned k = 0; k < 8; k++) {
        const uint32_t four = pairs[below(6)], two = one_in(2) ? 4 : 14;
        word |= (strcmp(f->a.type, "tf32") ? four : two) << 4 * k;
    }
    return word;
}

void tsr_fill(const struct tsr_form *f, unsigned fragment, uint32_t lanes[32][TSR_IN]) {
    memset(lanes, 0, 32 * sizeof *lanes);
    state = 0xcbf29ce484222325u;
    for (const char *c = f->name; *c; c++) state = (state ^ (unsigned char)*c) * 0x100000001b3u;
    state += (uint64_t)fragment << 32;
    now.class = (enum class)(fragment % TSR_CLASSES);
    now.hot = any();
    now.product = below(28);
    now.accumulator = below(48) - 16;
    if (f->kind != TSR_MMA) {
        const unsigned odd = 2 * any() + 1, first = any();
        for (unsigned l = 0; l < 32; l++) {
            for (unsigned k = 0; k < TSR_IN; k++) lanes[l][k] = any();
            /* stmatrix: different rows */
            lanes[l][TSR_ADDRESS] = f->addressed ? (l * odd + first) % 128 * 16 : lanes[l][16];
        }
        return;
    }
    fill_operand(&f->a, A, lanes);
    fill_operand(&f->b, B, lanes);
    fill_operand(&f->c, C, lanes);
    for (unsigned l = 0; f->sparse && l < 32; l++) lanes[l][f->e.first] = metadata(f);
}

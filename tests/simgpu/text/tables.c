/* tables.c - what has a name in PTX or in the executor, apart from instructions: types, special
   registers, and the functions that every text may call. */
#include "forms.h"

/* ---- types ---- */

static const struct {
    const char *name;
    unsigned char size;
} types[] = {
    [SIM_NOTYPE] = { "", 0 },
    [SIM_PRED] = { "pred", 0 },
    [SIM_B8] = { "b8", 1 },
    [SIM_U8] = { "u8", 1 },
    [SIM_S8] = { "s8", 1 },
    [SIM_B16] = { "b16", 2 },
    [SIM_U16] = { "u16", 2 },
    [SIM_S16] = { "s16", 2 },
    [SIM_F16] = { "f16", 2 },
    [SIM_BF16] = { "bf16", 2 },
    [SIM_B32] = { "b32", 4 },
    [SIM_U32] = { "u32", 4 },
    [SIM_S32] = { "s32", 4 },
    [SIM_F32] = { "f32", 4 },
    [SIM_F16X2] = { "f16x2", 4 },
    [SIM_BF16X2] = { "bf16x2", 4 },
    [SIM_B64] = { "b64", 8 },
    [SIM_U64] = { "u64", 8 },
    [SIM_S64] = { "s64", 8 },
    [SIM_F64] = { "f64", 8 },
    [SIM_B128] = { "b128", 16 },
};

unsigned sim_type_size(enum sim_type t) {
    return (unsigned)t < sizeof types / sizeof *types ? types[t].size : 0;
}

const char *px_type_name(enum sim_type t) { return types[t].name; }

enum sim_type sim_type_named(const char *name) {
    for (unsigned t = SIM_PRED; t < sizeof types / sizeof *types; t++)
        if (types[t].name[0] == name[0] && !strcmp(types[t].name, name)) return (enum sim_type)t;
    return SIM_NOTYPE;
}

/* ---- special registers, by the table in forms.h ---- */

int px_special(struct px_name *name) {
    if (name->sreg) return name->sreg;
    name->sreg = -1;
    if (name->text[0] != '%') return -1;
    for (size_t i = 1; i < SPECIAL_ENVREG; i++)
        if (!strcmp(specials[i].name, name->text)) return name->sreg = (short)i;
    char *end = NULL;
    if (!strncmp(name->text, "%envreg", 7) && name->text[7] >= '0' && name->text[7] <= '9') {
        unsigned long n = strtoul(name->text + 7, &end, 10);
        if (n < 32 && !*end) name->sreg = (short)SPECIAL_ENVREG;
    } else if (!strncmp(name->text, "%pm", 3) && name->text[3] >= '0' && name->text[3] <= '7') {
        if (!name->text[4]) name->sreg = (short)SPECIAL_ENVREG + 1;
        else if (!strcmp(name->text + 4, "_64")) name->sreg = (short)SPECIAL_ENVREG + 2;
    }
    return name->sreg;
}

char px_special_kind(struct px_name *name) { return specials[px_special(name)].kind; }

/* ---- functions ---- */

bool px_is_system(const char *name) {
    static const char *const names[] = { "vprintf", "__assertfail", "malloc", "free" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

/* The device runtime is there for what is linked, as on a GPU. */
bool px_is_provided(const struct px *px, const char *name) {
    return px_is_system(name) || (px->links && sim_nested_find(name) >= 0);
}

/* ---- features ---- */

void px_require(struct px *px, unsigned line, const char *feature, unsigned sm, unsigned version) {
    if (px->image->version < version)
        px_error(px, line, "Feature '%s' requires PTX ISA .version %u.%u or later", feature,
                version / 10, version % 10);
    if (px->image->sm < sm)
        px_error(px, line, "Feature '%s' requires .target sm_%u or higher", feature, sm);
}

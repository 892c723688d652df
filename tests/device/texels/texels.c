/* texels.c - the program: runs texture and surface programs on the available device.

   texels                    all 500 of each: compares with HASHES, which an H200 printed, but for
                             what DIFFERENCES lists; `make check` runs this
   texels hash               lines for HASHES
   texels text KIND N        prints program N
   texels values FILE KIND FIRST END
                             writes the results of programs to FILE, for `compare` elsewhere
   texels compare FILE KIND FIRST END [N [CLASS]]
                             runs them here, and prints up to N differences of each */
#include "texels.h"

enum { PROGRAMS = 500 };
static struct txl_program program;
static unsigned char texels[TXL_TEXELS], out[TXL_OUT], other[TXL_OUT];
static size_t out_bytes;
static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_ptr lanes, results, memory;

static void open_device(void) {
    context = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context, NULL);
    lanes = gpuexec_alloc(context, sizeof program.lane);
    results = gpuexec_alloc(context, TXL_LANES * 16);
    memory = gpuexec_alloc(context, 1 << 20);
}

static bool failed(void) {
    char text[600];
    txl_describe(&program, text, sizeof text);
    printf("%s\n  failed: %s\n", text, gpuexec_error_text());
    gpuexec_take_error();
    return false;
}

static gpuexec_array new_array(void) {
    const gpuexec_array array = gpuexec_array_create(context, &program.shape);
    if (!gpuexec_ok(array)) return array;
    for (unsigned level = 0; level < (program.shape.levels ? program.shape.levels : 1); level++) {
        gpuexec_array_info info;
        gpuexec_copy_desc c = { .to = { .array = array, .level = level },
            .from = { .host = texels } };
        txl_fill(&program, level, texels);
        if (gpuexec_array_get_info(array, level, &info)) break;
        c.width_bytes = info.row_bytes;
        c.height = info.rows;
        c.depth = info.slices;
        gpuexec_copy_with(stream, &c);
        if (gpuexec_stream_sync(stream)) break;
    }
    return array;
}

/* Device memory as the texture's source. */
static void fill_memory(void) {
    const size_t total = txl_fill(&program, 0, texels);
    const size_t rows = program.shape.height ? program.shape.height : 1;
    gpuexec_copy_desc c = { .to = { .device = memory }, .from = { .host = texels } };
    program.how.memory = memory;
    program.how.format = program.shape.format;
    program.how.channels = program.shape.channels;
    program.how.width = program.shape.width;
    program.how.height = program.pitched ? rows : 0;
    program.how.pitch_bytes = program.pitched ? 1024 : 0;
    c.width_bytes = total / rows;
    c.height = rows;
    c.to.pitch = program.pitched ? 1024 : 0;
    gpuexec_copy_with(stream, &c);
    if (gpuexec_stream_sync(stream)) failed();
}

/* Runs the program: `out` has its results. */
static bool run(bool surface, unsigned number) {
    gpuexec_array array = { 0 };
    gpuexec_texture t = { 0 };
    gpuexec_surface s = { 0 };
    unsigned long long object;
    txl_generate(&program, surface, number);
    if (program.linear || program.pitched) fill_memory();
    else program.how.array = array = new_array();
    if (surface) s = gpuexec_surface_create(array, 0);
    else t = gpuexec_texture_create(context, &program.how);
    object = surface ? gpuexec_surface_object(s) : gpuexec_texture_object(t);
    gpuexec_module module = gpuexec_module_load(
            context, program.text, strlen(program.text) + 1, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    memset(out, 0, sizeof out);
    out_bytes = TXL_LANES * 16;
    gpuexec_copy_in(stream, lanes, program.lane, sizeof program.lane);
    gpuexec_launch(kernel, stream,
            gpuexec_grid(1, surface && program.op != TXL_SUQ ? 1 : TXL_LANES, 0),
            GPUEXEC_ARGS(object, lanes, results));
    gpuexec_copy_out(stream, out, results, TXL_LANES * 16);
    if (surface) {
        gpuexec_array_info info;
        gpuexec_copy_desc c = { .to = { .host = out + out_bytes }, .from = { .array = array } };
        if (!gpuexec_array_get_info(array, 0, &info)) {
            c.width_bytes = info.row_bytes;
            c.height = info.rows;
            c.depth = info.slices;
            gpuexec_copy_with(stream, &c);
            out_bytes += info.row_bytes * info.rows * info.slices;
        }
    }
    const bool done = gpuexec_stream_sync(stream) == GPUEXEC_OK;
    if (!done) failed();
    gpuexec_take_error();
    gpuexec_module_unload(module);
    gpuexec_texture_destroy(t);
    gpuexec_surface_destroy(s);
    gpuexec_array_destroy(array);
    return done;
}

static uint64_t digest(void) { /* FNV-1a */
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t k = 0; k < out_bytes; k++) h = (h ^ out[k]) * 0x100000001b3u;
    return h;
}

static int write_values(const char *path, bool surface, unsigned first, unsigned end) {
    FILE *f = fopen(path, "wb");
    if (!f) return 1;
    for (unsigned n = first; n < end; n++) {
        const uint32_t done = run(surface, n), bytes = (uint32_t)out_bytes;
        fwrite(&done, 4, 1, f);
        fwrite(&bytes, 4, 1, f);
        fwrite(out, 1, bytes, f);
    }
    return fclose(f) != 0;
}

static void print_lane(unsigned l) {
    float f[TXL_WORDS];
    memcpy(f, program.lane[l], sizeof f);
    printf("  lane %u at", l);
    for (unsigned k = 0; k < 15; k++)
        if (program.surface) printf(" %x", program.lane[l][k]);
        else printf(" %.9g", (double)f[k]);
    for (unsigned k = 0; k < 2; k++) {
        uint32_t u[4];
        float v[4];
        memcpy(u, (k ? other : out) + 16 * l, sizeof u);
        memcpy(v, u, sizeof v);
        printf("%s", k ? "\n    there" : "\n    here ");
        for (unsigned c = 0; c < 4; c++) printf(" %08x %-14.9g", u[c], (double)v[c]);
    }
    printf("\n");
}

/* only: of 32 classes; others are skipped if it is below 32 */
static int compare(const char *path, bool surface, unsigned first, unsigned end, unsigned most,
        unsigned only) {
    FILE *f = fopen(path, "rb");
    unsigned programs = 0, different = 0;
    if (!f) return 1;
    for (unsigned n = first; n < end; n++) {
        uint32_t head[2];
        unsigned lanes_wrong = 0, shown = 0;
        if (fread(head, 4, 2, f) != 2 || head[1] > sizeof other ||
                fread(other, 1, head[1], f) != head[1])
            break;
        if (only < 32 && n % 32 != only) continue;
        const bool done = run(surface, n);
        programs++;
        if (done == head[0] && out_bytes == head[1] && !memcmp(out, other, out_bytes)) continue;
        different++;
        for (unsigned l = 0; l < TXL_LANES; l++)
            lanes_wrong += memcmp(out + 16 * l, other + 16 * l, 16) != 0;
        char text[600];
        txl_describe(&program, text, sizeof text);
        printf("%s\n  %s, there %s, %u of %u lanes differ\n", text, done ? "done" : "failed",
                head[0] ? "done" : "failed", lanes_wrong, TXL_LANES);
        for (unsigned l = 0; l < TXL_LANES && shown < most; l++)
            if (memcmp(out + 16 * l, other + 16 * l, 16)) {
                print_lane(l);
                shown++;
            }
        for (size_t k = TXL_LANES * 16; k < out_bytes && shown < most; k++)
            if (out[k] != other[k]) {
                printf("  texel byte %zu: here %02x, there %02x\n", k - TXL_LANES * 16, out[k],
                        other[k]);
                shown++;
            }
    }
    fclose(f);
    printf("%u programs, %u differ\n", programs, different);
    return different > 0;
}

static int hash(void) {
    for (unsigned k = 0; k < 2 * PROGRAMS; k++) {
        if (!run(k >= PROGRAMS, k % PROGRAMS)) out_bytes = 0;
        printf("%s %u %016llx\n", k < PROGRAMS ? "texture" : "surface", k % PROGRAMS,
                (unsigned long long)digest());
    }
    return 0;
}

/* Whether DIFFERENCES has the program: the CPU device's result is another one. */
static bool is_listed(const char *kind, unsigned number) {
    FILE *f = fopen("tests/device/texels/DIFFERENCES", "r");
    char line[200], name[16];
    unsigned n;
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%15s %u", name, &n) == 2 && n == number && !strcmp(name, kind);
    if (f) fclose(f);
    return found;
}

static int check(void) {
    unsigned passed = 0, wrong = 0;
    gpuexec_device_info info;
    FILE *f = fopen("tests/device/texels/HASHES", "r");
    char kind[16], text[600];
    unsigned n;
    unsigned long long want;
    if (gpuexec_device_get_info(0, &info)) return 1;
    const bool cpu = !strstr(info.name, "NVIDIA");
    if (!cpu && !strstr(info.name, "H200")) {
        printf("skipped: the results are those of an H200, not of %s\n", info.name);
        printf("suite texels: 0 passed, 0 failed, %u skipped\n", 2 * PROGRAMS);
        return 0;
    }
    if (!f) printf("cannot read tests/device/texels/HASHES\n");
    while (f && fscanf(f, "%15s %u %llx", kind, &n, &want) == 3) {
        const bool same = run(!strcmp(kind, "surface"), n) && digest() == want,
                   differs = cpu && is_listed(kind, n);
        if (same != differs) {
            passed++;
            continue;
        }
        txl_describe(&program, text, sizeof text);
        printf("%s\n  %s\n", text,
                same ? "is an H200's result, but in DIFFERENCES" : "is not an H200's result");
        wrong++;
    }
    if (f) fclose(f);
    if (passed + wrong != 2 * PROGRAMS) {
        printf("HASHES has %u programs, not %u\n", passed + wrong, 2 * PROGRAMS);
        wrong++;
    }
    printf("suite texels: %u passed, %u failed, 0 skipped\n", passed, wrong);
    return wrong > 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    const bool surface = argc > 3 && !strcmp(argv[argc > 5 ? 3 : 2], "surface");
    int code = 2;
    if (!strcmp(mode, "text") && argc == 4) {
        char text[600];
        txl_generate(&program, !strcmp(argv[2], "surface"), (unsigned)atoi(argv[3]));
        txl_describe(&program, text, sizeof text);
        printf("// %s\n%s", text, program.text);
        return 0;
    }
    open_device();
    if (!*mode) code = check();
    else if (!strcmp(mode, "hash")) code = hash();
    else if (argc > 5) {
        const unsigned first = (unsigned)atoi(argv[4]), end = (unsigned)atoi(argv[5]);
        if (!strcmp(mode, "values")) code = write_values(argv[2], surface, first, end);
        if (!strcmp(mode, "compare"))
            code = compare(argv[2], surface, first, end, argc > 6 ? (unsigned)atoi(argv[6]) : 2,
                    argc > 7 ? (unsigned)atoi(argv[7]) : 32);
    }
    gpuexec_shutdown();
    return code;
}

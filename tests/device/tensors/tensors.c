/* tensors.c - the program: runs each form on the available device.

   tensors                   every fifth form, or all with TEST_ALL=1: compares with HASHES, which
                             an H200 printed; `make check` runs this
   tensors hash              lines for HASHES
   tensors list              the names of the forms
   tensors text N            prints the module of form N
   tensors raw FILE [BYTES]  writes the results of all forms to FILE, of each as many of the first
                             fragments as fit into BYTES, by default 60000; of those without
                             rounding, into an eighth of it
   tensors compare FILE [N [WORD]]
                             runs the forms whose names contain WORD here, and prints up to N
                             fragments of each that differ from FILE's

   FILE has for each form a line, `form NUMBER ok FRAGMENTS WORDS NAME`, and the results behind it:
   of each fragment, of its 32 lanes, WORDS words each, in the order of the registers; or a line
   `form NUMBER failed 0 0 NAME` and a line of the error's text. Results in shared memory are its
   first 2048 bytes, in order. */
#include "tensors.h"

static struct tsr_form form;
static uint32_t in[TSR_FRAGMENTS][32][TSR_IN];
static uint32_t out[TSR_FRAGMENTS * 32 * TSR_OUT], other[TSR_FRAGMENTS * 32 * TSR_OUT];
static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_ptr from, to;
static char error[2000];

static void open_device(void) {
    context = gpuexec_context_open(0, NULL);
    stream = gpuexec_stream_create(context, NULL);
    from = gpuexec_alloc(context, sizeof in);
    to = gpuexec_alloc(context, sizeof out);
}

static size_t fragment_words(void) { return 32 * (size_t)form.out; }

/* Runs the form: `out` has its results, or `error` a text in one line. */
static bool run(unsigned number) {
    tsr_form(&form, number);
    for (unsigned k = 0; k < TSR_FRAGMENTS; k++) tsr_fill(&form, k, in[k]);
    memset(out, 0, sizeof out);
    gpuexec_module module = gpuexec_module_load(context, form.text, strlen(form.text) + 1, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    gpuexec_copy_in(stream, from, in, sizeof in);
    gpuexec_launch(kernel, stream, gpuexec_grid(TSR_FRAGMENTS, 32, 0), GPUEXEC_ARGS(from, to));
    gpuexec_copy_out(stream, out, to, TSR_FRAGMENTS * fragment_words() * 4);
    const bool done = gpuexec_stream_sync(stream) == GPUEXEC_OK;
    if (!done) {
        snprintf(error, sizeof error, "%s", gpuexec_error_text());
        for (char *c = error; *c; c++)
            if (*c == '\n' || *c == '\r') *c = ' ';
    }
    gpuexec_take_error();
    gpuexec_module_unload(module);
    gpuexec_take_error();
    return done;
}

static uint64_t digest(void) { /* FNV-1a */
    const unsigned char *bytes = (const unsigned char *)out;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t k = 0; k < TSR_FRAGMENTS * fragment_words() * 4; k++)
        h = (h ^ bytes[k]) * 0x100000001b3u;
    return h;
}

static int raw(const char *path, size_t bytes) {
    FILE *f = fopen(path, "wb");
    if (!f) return 1;
    for (unsigned n = 0; n < tsr_count(); n++) {
        if (!run(n)) {
            fprintf(f, "form %u failed 0 0 %s\n%s\n", n, form.name, error);
            printf("failed: %s\n  %s\n", form.name, error);
            continue;
        }
        const bool exact = form.kind != TSR_MMA || !strcmp(form.d.type, "s32");
        size_t fragments = bytes / (exact ? 8 : 1) / 4 / fragment_words();
        if (fragments > TSR_FRAGMENTS) fragments = TSR_FRAGMENTS;
        fprintf(f, "form %u ok %zu %u %s\n", n, fragments, form.out, form.name);
        fwrite(out, 4, fragments * fragment_words(), f);
        fprintf(f, "\n");
    }
    return fclose(f) != 0;
}

static void print_fragment(unsigned k) {
    const size_t first = k * fragment_words();
    unsigned shown = 0;
    printf("  fragment %u, class %u:", k, k % TSR_CLASSES);
    for (size_t w = 0; w < fragment_words() && shown < 4; w++)
        if (out[first + w] != other[first + w]) {
            printf(" lane %zu.%zu %08x, there %08x;", w / form.out, w % form.out, out[first + w],
                    other[first + w]);
            shown++;
        }
    printf("\n");
}

static int compare(const char *path, unsigned most, const char *word) {
    FILE *f = fopen(path, "rb");
    char line[4000], state[16], name[200];
    unsigned number, words, forms = 0, different = 0;
    size_t fragments;
    if (!f) return 1;
    while (fgets(line, sizeof line, f) &&
            sscanf(line, "form %u %15s %zu %u %199[^\n]", &number, state, &fragments, &words,
                    name) == 5) {
        const bool there = !strcmp(state, "ok");
        const size_t n = fragments * 32 * words;
        if (there && (n > sizeof other / 4 || fread(other, 4, n, f) != n)) break;
        if (!fgets(line, sizeof line, f)) break; /* the error, or the end of the line */
        unsigned here = 0;
        while (here < tsr_count() && strcmp(tsr_name(here), name)) here++;
        if (here == tsr_count() || !strstr(name, word)) continue;
        const bool done = run(here);
        unsigned wrong = 0, by_class[TSR_CLASSES] = { 0 };
        forms++;
        if (done != there) printf("%s: here %s, there %s\n", name, done ? "ok" : error, state);
        for (unsigned k = 0; done && there && k < fragments; k++)
            if (memcmp(out + k * fragment_words(), other + k * fragment_words(),
                        fragment_words() * 4)) {
                if (!wrong) printf("%s\n", name);
                if (wrong++ < most) print_fragment(k);
                by_class[k % TSR_CLASSES]++;
            }
        if (wrong) {
            printf("  %u of %zu differ; by class", wrong, fragments);
            for (unsigned k = 0; k < TSR_CLASSES; k++) printf(" %u", by_class[k]);
            printf("\n");
        }
        different += wrong || done != there;
    }
    fclose(f);
    printf("%u forms, %u differ\n", forms, different);
    return different > 0;
}

static int hash(void) {
    for (unsigned n = 0; n < tsr_count(); n++) {
        const bool done = run(n);
        printf("%016llx %s\n", done ? (unsigned long long)digest() : 0, form.name);
        fflush(stdout);
    }
    return 0;
}

static int check(void) {
    unsigned passed = 0, wrong = 0, lines = 0;
    const unsigned step = getenv("TEST_ALL") ? 1 : 5;
    gpuexec_device_info info;
    FILE *f = fopen("tests/device/tensors/HASHES", "r");
    char name[200];
    unsigned long long want;
    if (gpuexec_device_get_info(0, &info)) return 1;
    const bool cpu = !strstr(info.name, "NVIDIA");
    if (!cpu && !strstr(info.name, "H200")) {
        printf("skipped: the results are those of an H200, not of %s\n", info.name);
        printf("suite tensors: 0 passed, 0 failed, %u skipped\n", tsr_count());
        return 0;
    }
    if (!f) printf("cannot read tests/device/tensors/HASHES\n");
    while (f && fscanf(f, "%llx %199[^\n]", &want, name) == 2) {
        unsigned n = 0;
        if (lines++ % step) continue;
        while (n < tsr_count() && strcmp(tsr_name(n), name)) n++;
        if (n < tsr_count() && (run(n) ? digest() : 0) == want) {
            passed++;
            continue;
        }
        printf("%s\n  is not an H200's result\n", name);
        wrong++;
    }
    if (f) fclose(f);
    if (lines != tsr_count()) {
        printf("HASHES has %u forms, not %u\n", lines, tsr_count());
        wrong++;
    }
    printf("suite tensors: %u passed, %u failed, 0 skipped\n", passed, wrong);
    return wrong > 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int code = 2;
    if (!strcmp(mode, "list")) {
        for (unsigned n = 0; n < tsr_count(); n++) printf("%u %s\n", n, tsr_name(n));
        return 0;
    }
    if (!strcmp(mode, "text") && argc == 3) {
        tsr_form(&form, (unsigned)atoi(argv[2]));
        printf("// %s\n%s", form.name, form.text);
        return 0;
    }
    open_device();
    if (!*mode) code = check();
    else if (!strcmp(mode, "hash")) code = hash();
    else if (!strcmp(mode, "raw") && argc > 2)
        code = raw(argv[2], argc > 3 ? (size_t)atol(argv[3]) : 60000);
    else if (!strcmp(mode, "compare") && argc > 2)
        code = compare(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 2, argc > 4 ? argv[4] : "");
    gpuexec_shutdown();
    return code;
}

/* boxes.c - the program: runs copies of tensors on the available device.

   boxes                     all 200 of each kind: compares with HASHES, which an H200 printed;
                             `make check` runs this
   boxes hash                lines for HASHES
   boxes text KIND N         prints program N
   boxes values FILE         writes all results to FILE, for `compare` elsewhere
   boxes compare FILE [KIND [N]]
                             runs them here, and prints up to N differences of each

   A kernel that fails ends the use of the device by its process, so a child runs the programs, and
   another one continues behind a failure. */
#include "boxes.h"
#include <sys/wait.h>
#include <unistd.h>

/* What a program left: the results of the encoding and of the launch, and the bytes that differ
   from those before it, as runs: place, bytes, and the bytes themselves. */
struct answer {
    uint32_t kind, number, encoded, launched;
    uint32_t complete[2];
    uint64_t barrier[2]; /* each GPU's own; not compared */
    uint32_t bytes, cpu;
    unsigned char runs[BOX_MEMORY];
};
#define HEAD offsetof(struct answer, runs)

static struct box_program program;
static struct answer answer, other;
static unsigned char memory[BOX_MEMORY], after[BOX_MEMORY], shared[BOX_SHARED], out[BOX_OUT];

/* ---- the child */

/* 128 bytes at an address that is a multiple of 64 */
struct map {
    uint64_t word[16];
};
typedef int encode_tiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
        const uint64_t *stride, const uint32_t *box, const uint32_t *step, int interleave,
        int swizzle, int promotion, int fill);
typedef int encode_im2col(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
        const uint64_t *stride, const int *lower, const int *upper, uint32_t channels,
        uint32_t pixels, const uint32_t *step, int interleave, int swizzle, int promotion,
        int fill);
static struct {
    gpuexec_context context;
    gpuexec_stream stream;
    gpuexec_ptr place, in, out, memory;
    encode_tiled *tiled;
    encode_im2col *im2col;
} device;

static void open_device(void) {
    void *found[2];
    device.context = gpuexec_context_open(0, NULL);
    gpuexec_context_push(device.context); /* the encoding takes the current context */
    device.stream = gpuexec_stream_create(device.context, NULL);
    device.place = gpuexec_alloc(device.context, 256);
    device.in = gpuexec_alloc(device.context, BOX_SHARED);
    device.out = gpuexec_alloc(device.context, BOX_OUT);
    device.memory = gpuexec_alloc(device.context, BOX_MEMORY);
    found[0] = gpuexec_driver_symbol("cuTensorMapEncodeTiled", 12000);
    found[1] = gpuexec_driver_symbol("cuTensorMapEncodeIm2col", 12000);
    memcpy(&device.tiled, &found[0], sizeof found[0]);
    memcpy(&device.im2col, &found[1], sizeof found[1]);
}

static uint32_t encode(const struct box_desc *d, struct map *map) {
    unsigned char room[sizeof *map + 64];
    unsigned char *to = room + (64 - (uintptr_t)room % 64) % 64;
    void *address = (void *)(uintptr_t)(device.memory + BOX_MIDDLE + d->offset);
    int cu;
    if (!device.tiled || !device.im2col) return 999;
    memset(room, 0, sizeof room);
    if (d->im2col)
        cu = device.im2col(to, (int)d->type, d->rank, address, d->dim, d->stride, d->lower,
                d->upper, d->channels, d->pixels, d->step, (int)d->interleave, (int)d->swizzle,
                (int)d->promotion, (int)d->fill);
    else
        cu = device.tiled(to, (int)d->type, d->rank, address, d->dim, d->stride, d->box, d->step,
                (int)d->interleave, (int)d->swizzle, (int)d->promotion, (int)d->fill);
    memcpy(map, to, sizeof *map);
    return (uint32_t)cu;
}

static void add_run(uint32_t at, uint32_t n, const unsigned char *bytes) {
    if (answer.bytes + 8 + n > sizeof answer.runs) return;
    memcpy(answer.runs + answer.bytes, &at, 4);
    memcpy(answer.runs + answer.bytes + 4, &n, 4);
    memcpy(answer.runs + answer.bytes + 8, bytes, n);
    answer.bytes += 8 + n;
}
/* Units of 4 bytes. */
static void add_changes(
        const unsigned char *before, const unsigned char *now, uint32_t bytes, uint32_t at) {
    for (uint32_t k = 0, first; k < bytes; k += 4) {
        if (!memcmp(before + k, now + k, 4)) continue;
        for (first = k; k < bytes && memcmp(before + k, now + k, 4); k += 4) continue;
        add_run(at + first, k - first, now + first);
    }
}

static uint32_t launch(struct map map) {
    gpuexec_module module = gpuexec_module_load(
            device.context, program.text, strlen(program.text) + 1, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    size_t bytes;
    const gpuexec_ptr there = gpuexec_module_global_address(module, "there", &bytes);
    gpuexec_copy_in(device.stream, there, &map, sizeof map);
    gpuexec_copy_in(device.stream, device.place, &map, sizeof map);
    gpuexec_copy_in(device.stream, device.in, shared, sizeof shared);
    gpuexec_copy_in(device.stream, device.memory, memory, sizeof memory);
    gpuexec_fill(device.stream, device.out, 0, 1, BOX_OUT);
    gpuexec_launch(kernel, device.stream, gpuexec_grid(program.ranks ? 2 : 1, 128, 0),
            GPUEXEC_ARGS(map, device.place, device.in, device.out, device.memory));
    gpuexec_copy_out(device.stream, out, device.out, sizeof out);
    gpuexec_copy_out(device.stream, after, device.memory, sizeof after);
    const bool done = gpuexec_stream_sync(device.stream) == GPUEXEC_OK;
    const uint32_t cu = done ? 0 : (uint32_t)gpuexec_error_detail()->driver_result;
    if (!done && getenv("BOXES_VERBOSE")) {
        char text[800];
        box_describe(&program, text, sizeof text);
        fprintf(stderr, "%s\n  %s\n", text, gpuexec_error_text());
    }
    if (done) gpuexec_module_unload(module);
    return done ? 0 : cu ? cu : 998;
}

static bool run(enum box_kind kind, unsigned number) {
    struct map map, before;
    box_generate(&program, kind, number);
    memset(&answer, 0, HEAD);
    answer.kind = kind;
    answer.number = number;
    answer.encoded = encode(&program.map, &map);
    if (kind == BOX_REPLACE) {
        const uint32_t cu = encode(&program.before, &before);
        if (!answer.encoded) answer.encoded = cu ? 1000 + cu : 0;
        map = before;
    }
    if (answer.encoded || kind == BOX_ENCODE) return true;
    box_fill(&program, memory, shared);
    answer.launched = launch(map);
    if (answer.launched) return false;
    for (unsigned k = 0; k < 2; k++) {
        memcpy(&answer.complete[k], out + 2 * BOX_SHARED + 16 * k, 4);
        memcpy(&answer.barrier[k], out + 2 * BOX_SHARED + 16 * k + 8, 8);
    }
    add_changes(shared, out, BOX_SHARED, 0);
    if (program.ranks) add_changes(shared, out + BOX_SHARED, BOX_SHARED, BOX_SHARED);
    add_changes(memory, after, BOX_MEMORY, 2 * BOX_SHARED);
    return true;
}

/* Writes answers of the programs from `first` on; ends behind a failed launch. */
static void be_child(int to, unsigned first, unsigned end) {
    gpuexec_device_info info;
    bool goes_on = true;
    open_device();
    const bool cpu = !gpuexec_device_get_info(0, &info) && !strstr(info.name, "H200");
    for (unsigned k = first; k < end && goes_on; k++) {
        alarm(30);
        goes_on = run((enum box_kind)(k / BOX_PROGRAMS), k % BOX_PROGRAMS);
        answer.cpu = cpu ? strstr(info.name, "NVIDIA") ? 2 : 1 : 0;
        const size_t bytes = HEAD + answer.bytes;
        for (size_t at = 0; at < bytes;) {
            const ssize_t n = write(to, (const char *)&answer + at, bytes - at);
            if (n <= 0) _exit(1);
            at += (size_t)n;
        }
    }
    _exit(0);
}

/* ---- the parent */

static bool read_all(int from, void *to, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = read(from, (char *)to + at, bytes - at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* Runs programs first to end - 1, and calls `each` for the answer of each. */
static void run_all(unsigned first, unsigned end, void each(void)) {
    while (first < end) {
        int ends[2];
        fflush(stdout);
        if (pipe(ends)) return;
        const pid_t child = fork();
        if (child < 0) return;
        if (!child) {
            close(ends[0]);
            be_child(ends[1], first, end);
        }
        close(ends[1]);
        unsigned n = 0;
        while (first < end && read_all(ends[0], &answer, HEAD) &&
                read_all(ends[0], answer.runs, answer.bytes)) {
            each();
            first++;
            n++;
        }
        close(ends[0]);
        waitpid(child, NULL, 0);
        if (n || first >= end) continue;
        memset(&answer, 0, HEAD); /* the first program of a child ended it */
        answer.kind = first / BOX_PROGRAMS;
        answer.number = first % BOX_PROGRAMS;
        answer.launched = 997;
        each();
        first++;
    }
}

static uint64_t digest(void) { /* FNV-1a */
    const uint32_t head[] = { answer.encoded, answer.launched, answer.complete[0],
        answer.complete[1] };
    const unsigned char *bytes = (const unsigned char *)head;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t k = 0; k < sizeof head; k++) h = (h ^ bytes[k]) * 0x100000001b3u;
    for (size_t k = 0; k < answer.bytes; k++) h = (h ^ answer.runs[k]) * 0x100000001b3u;
    return h;
}

static void print_hash(void) {
    printf("%s %u %016llx\n", box_kinds[answer.kind], answer.number, (unsigned long long)digest());
}

static FILE *file;
static unsigned programs, wrong, most;

static void write_answer(void) { fwrite(&answer, 1, HEAD + answer.bytes, file); }

static bool read_answer(struct answer *a) {
    return fread(a, 1, HEAD, file) == HEAD && a->bytes <= sizeof a->runs &&
            fread(a->runs, 1, a->bytes, file) == a->bytes;
}

/* A run begins at `at` of an answer: prints it. */
static void print_runs(const char *name, const struct answer *a) {
    uint32_t head[2];
    unsigned shown = 0;
    for (size_t at = 0; at < a->bytes && shown < most; at += 8 + head[1], shown++) {
        memcpy(head, a->runs + at, 8);
        printf("    %s %s+%u, %u bytes:", name, head[0] >= 2 * BOX_SHARED ? "memory" : "shared",
                head[0] >= 2 * BOX_SHARED ? head[0] - 2 * BOX_SHARED - BOX_MIDDLE : head[0],
                head[1]);
        for (unsigned k = 0; k < head[1] && k < 64; k++)
            printf("%s%02x", k % 4 ? "" : " ", a->runs[at + 8 + k]);
        printf("\n");
    }
}

static void compare_answer(void) {
    char text[800];
    do
        if (!read_answer(&other)) return;
    while (other.kind < answer.kind || (other.kind == answer.kind && other.number < answer.number));
    programs++;
    if (answer.encoded == other.encoded && answer.launched == other.launched &&
            !memcmp(answer.complete, other.complete, sizeof answer.complete) &&
            answer.bytes == other.bytes && !memcmp(answer.runs, other.runs, other.bytes))
        return;
    wrong++;
    box_generate(&program, (enum box_kind)answer.kind, answer.number);
    box_describe(&program, text, sizeof text);
    printf("%s\n  encoded %u, there %u; launched %u, there %u; complete %u %u, there %u %u; "
           "%u bytes, there %u\n",
            text, answer.encoded, other.encoded, answer.launched, other.launched,
            answer.complete[0], answer.complete[1], other.complete[0], other.complete[1],
            answer.bytes, other.bytes);
    print_runs("here ", &answer);
    print_runs("there", &other);
}

/* ---- the check */

static unsigned passed, skipped;

static void check_answer(void) {
    char kind[16], text[800];
    unsigned n;
    unsigned long long want;
    if (!file || fscanf(file, "%15s %u %llx", kind, &n, &want) != 3) return;
    if (answer.cpu == 2) { /* another GPU */
        skipped++;
        return;
    }
    if (digest() == want && n == answer.number && !strcmp(kind, box_kinds[answer.kind])) {
        passed++;
        return;
    }
    wrong++;
    box_generate(&program, (enum box_kind)answer.kind, answer.number);
    box_describe(&program, text, sizeof text);
    printf("%s\n  is not an H200's result\n", text);
}

static int check(void) {
    file = fopen("tests/device/boxes/HASHES", "r");
    if (!file) {
        printf("cannot read tests/device/boxes/HASHES\n");
        return 1;
    }
    run_all(0, BOX_KINDS * BOX_PROGRAMS, check_answer);
    fclose(file);
    if (passed + wrong + skipped != BOX_KINDS * BOX_PROGRAMS) {
        printf("HASHES has %u programs, not %u\n", passed + wrong + skipped,
                BOX_KINDS * BOX_PROGRAMS);
        wrong++;
    }
    printf("suite boxes: %u passed, %u failed, %u skipped\n", passed, wrong, skipped);
    return wrong > 0;
}

static unsigned kind_of(const char *name) {
    unsigned k = 0;
    while (k < BOX_KINDS && strcmp(name, box_kinds[k])) k++;
    return k;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    const unsigned all = BOX_KINDS * BOX_PROGRAMS;
    if (!*mode) return check();
    if (!strcmp(mode, "hash")) {
        run_all(0, all, print_hash);
        return 0;
    }
    if (!strcmp(mode, "text") && argc == 4) {
        char text[800];
        box_generate(&program, (enum box_kind)kind_of(argv[2]), (unsigned)atoi(argv[3]));
        box_describe(&program, text, sizeof text);
        printf("// %s\n%s", text, program.text);
        return 0;
    }
    if (argc < 3) return 2;
    file = fopen(argv[2], strcmp(mode, "values") ? "rb" : "wb");
    if (!file) return 2;
    if (!strcmp(mode, "values")) run_all(0, all, write_answer);
    if (!strcmp(mode, "compare")) {
        const unsigned kind = argc > 3 ? kind_of(argv[3]) : BOX_KINDS;
        most = argc > 4 ? (unsigned)atoi(argv[4]) : 4;
        if (kind == BOX_KINDS) run_all(0, all, compare_answer);
        else run_all(kind * BOX_PROGRAMS, (kind + 1) * BOX_PROGRAMS, compare_answer);
        printf("%u programs, %u differ\n", programs, wrong);
    }
    return fclose(file) || wrong;
}

/* timeline.c - arbitrary bytes as the file of a timeline: it is read and drawn as a page and as a
   picture, or refused with a text. What is drawn is bounded, and no text of the file ends the
   script that it is in. */
#include <unistd.h>
#include "../../../gpuexec.h"
#include "../../support/fuzz/fuzz.h"

static char folder[] = "/tmp/gpuexec-fuzz-XXXXXX";
static char paths[3][64];

static void end(void) {
    for (int i = 0; i < 3; i++) remove(paths[i]);
    rmdir(folder);
}
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    static const char *const names[] = { "t.json", "t.html", "t.svg" };
    (void)count;
    (void)arguments;
    simgpu_take_this();
    FUZZ_CHECK(mkdtemp(folder), "a folder");
    for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    atexit(end);
    return 0;
}
static char *read_back(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 22);
    FUZZ_CHECK(file && text, "%s", path);
    FUZZ_CHECK(fread(text, 1, (1 << 22) - 1, file) < (1 << 22) - 1, "a page of 4 MiB");
    fclose(file);
    return text;
}
static int count_text(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what)) != NULL) {
        n++;
        text++;
    }
    return n;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FILE *file = fopen(paths[0], "wb");
    FUZZ_CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file), "%s", paths[0]);
    if (gpuexec_timeline_page(paths[0], paths[1])) {
        FUZZ_CHECK(gpuexec_error_text()[0], "a text");
        FUZZ_CHECK(gpuexec_timeline_page(paths[0], paths[2]), "only the page is refused");
        return 0;
    }
    FUZZ_CHECK(!gpuexec_timeline_page(paths[0], paths[2]), "%s", gpuexec_error_text());
    char *const page = read_back(paths[1]), *const picture = read_back(paths[2]);
    FUZZ_CHECK(count_text(page, "</script") == 2, "a text ends a script");
    FUZZ_CHECK(count_text(page, "<!--") == 0, "a text begins a comment");
    FUZZ_CHECK(count_text(picture, "<text") == count_text(picture, "</text>"), "a text is open");
    FUZZ_CHECK(count_text(picture, "<rect") + count_text(picture, "<path") < 2500, "shapes");
    free(page);
    free(picture);
    return 0;
}

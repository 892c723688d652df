/* draw.c - `draw COUNT FOLDER`: writes a timeline with made-up events, and draws it as a page and
   as a picture: events.json, events.html and events.svg; prints how many of each kind it wrote.
   `draw FILE PAGE`: draws a file. Prints why that failed. */
#include "../../../gpuexec.h"
#include "../../support/timeline_events.h"
#include <stdlib.h>

static int draw(const char *from, const char *to) {
    if (gpuexec_timeline_page(from, to) == GPUEXEC_OK) return 0;
    fputs(gpuexec_error_text(), stderr);
    return 1;
}
int main(int argc, char **argv) {
    char paths[3][512];
    timeline_totals totals;
    long long kernels = 0, copies = 0, bytes = 0;
    int i;
    if (argc != 3) return 2;
    if (argv[1][strspn(argv[1], "0123456789")]) return draw(argv[1], argv[2]);
    for (i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/events.%s", argv[2],
                i == 0           ? "json"
                        : i == 1 ? "html"
                                 : "svg");
    totals = timeline_write(paths[0], atoll(argv[1]));
    if (totals.events == 0) {
        perror(paths[0]);
        return 1;
    }
    for (i = 0; i < TIMELINE_KERNELS; i++) kernels += totals.kernels[i];
    for (i = 0; i < TIMELINE_COPIES; i++) {
        copies += totals.copies[i];
        bytes += totals.copy_bytes[i];
    }
    printf("events=%lld kernels=%lld copies=%lld bytes=%lld\n", totals.events, kernels, copies,
            bytes);
    return draw(paths[0], paths[1]) || draw(paths[0], paths[2]);
}

/* timeline_page.c - the page and the picture of a timeline: what they show of files that the tests
   write, and what becomes of files that are cut, damaged or hostile. */
#include "../../test.h"
#include "../../support/timeline_events.h"
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[64];
static char paths[3][96]; /* the file, the page, the picture */
#define JSON paths[0]
#define PAGE paths[1]
#define PICTURE paths[2]

static int set_folder(void) {
    static const char *const names[] = { "events.json", "page.html", "page.svg" };
    int i;
    strcpy(folder, "/tmp/gpuexec-page-XXXXXX");
    if (!CHECK(mkdtemp(folder) != NULL)) return 0;
    for (i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    return 1;
}
static void remove_folder(void) {
    int i;
    for (i = 0; i < 3; i++) remove(paths[i]);
    CHECK_EQ(rmdir(folder), 0); /* nothing else is in it */
}
/* A file as text, which the caller frees; NULL: there is none. */
static char *read_text(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, cap = 0;
    if (!file) return NULL;
    do {
        cap = cap ? cap * 2 : 65536;
        text = realloc(text, cap + 1);
        n += fread(text + n, 1, cap - n, file);
    } while (n == cap);
    fclose(file);
    text[n] = 0;
    if (bytes) *bytes = n;
    return text;
}
static void write_bytes(const char *path, const char *text, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    CHECK_EQ(fwrite(text, 1, bytes, file), bytes);
    CHECK_EQ(fclose(file), 0);
}
static void write_text(const char *path, const char *text) {
    write_bytes(path, text, strlen(text));
}

/* --- whether a text is XML -----------------------------------------------------------------------
 */

/* Whether the UTF-8 is valid, and has only characters that XML allows. */
static int is_xml_text(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int n = *p < 0x80 ? 0 : *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1, i;
        if (*p < 32 && *p != '\n') return 0;
        if ((*p >= 0x80 && *p < 0xC2) || *p > 0xF4) return 0;
        if (*p == 0xED && p[1] >= 0xA0) return 0;                 /* a surrogate */
        if (*p == 0xEF && p[1] == 0xBF && p[2] >= 0xBE) return 0; /* U+FFFE, U+FFFF */
        for (i = 0; i < n; i++)
            if ((*++p & 0xC0) != 0x80) return 0;
        p++;
    }
    return 1;
}
/* The first thing in an SVG that is not well-formed; NULL: none. Counts its shapes. */
static const char *find_xml_fault(const char *p, int *shapes) {
    char open[32][16];
    int depth = 0;
    *shapes = 0;
    if (!is_xml_text(p)) return "a character";
    while (*p) {
        const int closes = p[1] == '/';
        const char *name, *end;
        if (*p == '&') {
            end = p + strcspn(p, "; <");
            if (*end != ';' || end - p > 6) return p;
            p = end + 1;
            continue;
        }
        if (*p != '<') {
            if (*p != '\n' && !depth) return p;
            p++;
            continue;
        }
        name = p + 1 + closes;
        end = name + strspn(name, "abcdefghijklmnopqrstuvwxyz");
        if (end == name || end - name > 15) return p;
        if (closes) {
            if (!depth-- || strncmp(open[depth], name, (size_t)(end - name)) != 0 || *end != '>')
                return p;
            p = end + 1;
            continue;
        }
        snprintf(open[depth], sizeof open[0], "%.*s", (int)(end - name), name);
        *shapes += !strcmp(open[depth], "rect") || !strcmp(open[depth], "path") ||
                !strcmp(open[depth], "text");
        for (p = end; *p == ' '; p++) { /* attributes */
            p += 1 + strcspn(p + 1, "=<>& ");
            if (p[0] != '=' || p[1] != '"') return p;
            p += 2 + strcspn(p + 2, "\"<");
            if (*p != '"') return p;
        }
        if (*p == '/') p++;
        else if (++depth == 32) return p;
        if (*p++ != '>') return p;
    }
    return depth ? "its end" : NULL;
}

/* --- what a page has -----------------------------------------------------------------------------
 */

/* How many events are in the data of a page. */
static long long count_events(const char *page) {
    const char *p = page;
    long long n = 0;
    while ((p = strstr(p, "\"count\":")) != NULL) n += atoll(p += 8);
    return n;
}
/* The number after the text; -1: the text is missing. */
static long long number_after(const char *page, const char *text) {
    const char *const p = strstr(page, text);
    return p ? atoll(p + strlen(text)) : -1;
}
/* How often the text occurs. */
static int count_text(const char *page, const char *text) {
    int n = 0;
    while ((page = strstr(page, text)) != NULL) {
        n++;
        page++;
    }
    return n;
}
/* Draws the file as both. Returns the page, and checks that both are well-formed. */
static char *draw(int *shapes) {
    char *page, *picture;
    const char *fault;
    int n = 0;
    if (!CHECK_OK(gpuexec_timeline_page(JSON, PAGE))) return NULL;
    if (!CHECK_OK(gpuexec_timeline_page(JSON, PICTURE))) return NULL;
    page = read_text(PAGE, NULL);
    picture = read_text(PICTURE, NULL);
    if (!CHECK(page && picture)) return NULL;
    fault = find_xml_fault(picture, &n);
    if (!CHECK(fault == NULL)) printf("  at: %.80s\n", fault);
    CHECK(n <= 2500);
    if (shapes) *shapes = n;
    CHECK(is_xml_text(page));
    /* the data, the script, and nothing else that ends a script */
    CHECK_EQ(count_text(page, "</script"), 2);
    CHECK_EQ(count_text(page, "<script"), 2);
    CHECK_EQ(count_text(page, "<!--"), 0);
    CHECK(strstr(page, "http") == NULL);
    free(picture);
    return page;
}
static void check_row(const char *page, const char *name, long long count, long long ns) {
    char text[256];
    const int gemm = strchr(name, '<') != NULL;
    snprintf(text, sizeof text, "%s</button><td data-v=%lld>",
            gemm ? "RowMajor&gt;(Params&lt;float, "
                   "128&gt;)"
                 : name,
            count);
    CHECK_TEXT(page, text);
    page = strstr(page, text);
    if (page) CHECK_EQ(number_after(page + strlen(text), "<td data-v="), ns);
}
static void check_totals(long long least) {
    const timeline_totals totals = timeline_write(JSON, least);
    const double began = test_seconds();
    char *page;
    size_t bytes = 0;
    int i, shapes;
    CHECK(totals.events >= least);
    page = draw(&shapes);
    CHECK(test_seconds() - began < 30);
    if (!page) return;
    CHECK_EQ(count_events(page), totals.events);
    for (i = 0; i < TIMELINE_KERNELS; i++)
        check_row(page, timeline_kernels[i], totals.kernels[i], totals.kernel_ns[i]);
    for (i = 0; i < TIMELINE_COPIES; i++) {
        char text[32];
        check_row(page, timeline_copies[i], totals.copies[i], totals.copy_ns[i]);
        snprintf(text, sizeof text, "<td data-v=%lld>", totals.copy_bytes[i]);
        CHECK_TEXT(page, text);
    }
    CHECK_EQ(number_after(page, "\"cut\":"), 0);
    free(page);
    free(read_text(PAGE, &bytes));
    CHECK(bytes < 6000000 && bytes > (size_t)least * 8);
    free(read_text(PICTURE, &bytes));
    CHECK(bytes < 300000);
    CHECK(shapes > 60);
}

TEST(a_thousand_events) {
    if (!set_folder()) return;
    check_totals(1000);
    remove_folder();
}
TEST(a_hundred_thousand_events) {
    if (!set_folder()) return;
    check_totals(100000);
    remove_folder();
}

/* A file without its end, which a crash cuts at any byte: what is whole is drawn. */
TEST(a_file_that_is_cut) {
    char *text, *page;
    size_t bytes, at, first, lines;
    if (!set_folder()) return;
    timeline_write(JSON, 40);
    text = read_text(JSON, &bytes);
    for (first = bytes, lines = 0; first > 2 && lines < 14; first--)
        lines += text[first - 2] == '\n';
    for (at = first; at <= bytes; at++) {
        /* whole: all lines with an event that end before `at`, with or without their comma */
        long long whole = 0;
        size_t begin, end;
        for (begin = 0; begin < at; begin = end + 1) {
            const char *const line = text + begin;
            end = begin + strcspn(line, "\n");
            if ((line[7] == 'X' || line[7] == 'i') && end - 1 <= at) whole++;
        }
        write_bytes(JSON, text, at);
        if (!CHECK_OK(gpuexec_timeline_page(JSON, PAGE))) break;
        page = read_text(PAGE, NULL);
        if (!CHECK_EQ(count_events(page), whole)) printf("  cut at byte %lu\n", (unsigned long)at);
        CHECK_EQ(number_after(page, "\"cut\":"), at < bytes - 1); /* only a newline is missing */
        free(page);
        if (at % 16 == 0) free(draw(NULL));
    }
    free(text);
    write_text(JSON, "[");
    free(draw(NULL));
    write_text(JSON, "[\n]\n");
    free(draw(NULL));
    remove_folder();
}

/* One line of a file is damaged: its number is in the text, and an older page is unchanged. */
TEST(a_line_that_is_not_an_event) {
    static const char *const lines[] = { "nonsense", "{", "{}", "[]", "\"ph\"", "{\"ph\":\"X\"}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1\",\"dur\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e99,\"dur\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":01,\"dur\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1.,\"dur\":1}",
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":-,\"dur\":1}", "{\"ph\":\"i\",\"name\":\"a\"}",
        "{\"ph\":\"i\",\"name\":3,\"ts\":1}", "{\"ph\":\"ii\",\"name\":\"a\",\"ts\":1}",
        "{\"ph\":\"s\",\"name\":\"a\",\"ts\":1}", "{\"ph\":\"f\",\"name\":\"a\",\"id\":1}",
        "{\"ph\":\"M\",\"name\":\"gpuexec\"}", "{\"ph\":\"M\",\"name\":\"gpuexec\",\"args\":[]}",
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1} trailing",
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},,", "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1",
        "{\"ph\":\"i\" \"name\":\"a\",\"ts\":1}", "{\"ph\":\"i\",\"name\":\"a\\x\",\"ts\":1}",
        "{\"ph\":\"i\",\"name\":\"\\u12g4\",\"ts\":1}",
        "{\"ph\":\"i\",\"name\":\"tab\t\",\"ts\":1}", "{\"ph\":\"i\",\"name\":\"a,\"ts\":1}",
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":tru}}",
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"x\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}",
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"args\":{\"x\":\"" };
    char text[512], *old;
    size_t i;
    if (!set_folder()) return;
    write_text(PAGE, "an older page");
    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text,
                "[\n{\"ph\":\"i\",\"name\":\"a\",\"ts\":1},\n\n%s\n{\"ph\":\"i\",\"name\":\"b\","
                "\"ts\":2}\n]\n",
                lines[i]);
        write_text(JSON, text);
        if (!CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 4 of \"",
                    JSON, "is not an event", "gpuexec has written as a timeline"))
            printf("  %s\n", lines[i]);
    }
    old = read_text(PAGE, NULL);
    CHECK_STRING(old, "an older page");
    free(old);
    write_bytes(JSON, "[\n{\"ph\":\"i\",\"name\":\"a\0\",\"ts\":1}\n]\n", 34);
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 2", "not an event");
    write_text(JSON, "[\n]\n\n[\n");
    CHECK_FAILED(
            gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 4", "end of the list");
    write_text(JSON, "{\"traceEvents\":[\n]}\n");
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 1", "is not \"[\"");
    write_text(JSON, "");
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, JSON, "is empty");
    remove_folder();
}
TEST(a_line_that_is_too_long) {
    char *text = malloc(1200004);
    if (!set_folder()) return;
    memset(text, ' ', 1200003);
    memcpy(text, "[\n", 2);
    text[1200003] = 0;
    write_text(JSON, text);
    CHECK_FAILED(
            gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 2", "longer than 1 MiB");
    free(text);
    remove_folder();
}

/* Names with what HTML, XML, JSON and a script would take for a part of themselves; and bytes that
   are not UTF-8. */
TEST(hostile_names) {
    static const char *const names[] = { "</script><script>alert(1)</script>", "<!-- <b>&amp;",
        "]]>", "' onmouseover='alert(1)", "\\\" \\\\ \\/ \\n \\u0000 \\u001f \\u003cb\\u003e",
        "\\ud83d\\ude00 \\ud800 \\ude00\\ud800 \\uffff \\u2028",
        "\xFF\xFE \xC0\x80 \xED\xA0\x80 \xE2\x82", "\xF4\x90\x80\x80 \xEF\xBF\xBF \x7F",
        "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", "", "%s%n%d",
        "void a::b<c, (d)1>(int&&, char const*) [with T = <lambda()>]" };
    static char long_name[20001];
    const size_t count = sizeof names / sizeof *names;
    FILE *file;
    size_t i, k;
    char *page;
    if (!set_folder()) return;
    if (!CHECK((file = fopen(JSON, "wb")) != NULL)) return;
    memset(long_name, 'x', sizeof long_name - 1);
    fputs("[\n", file);
    for (i = 0; i <= count; i++) {
        const char *const name = i < count ? names[i] : long_name;
        fprintf(file,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%lu,\"tid\":0,\"args\":{\"name\":"
                "\"%s\"}},\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%lu,\"tid\":1,\"args\":"
                "{\"name\":\"%s\"}},\n",
                1000 + (unsigned long)i, name, 1000 + (unsigned long)i, name);
        for (k = 0; k < 3; k++)
            fprintf(file,
                    "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%lu,\"tid\":1,\"ts\":%lu,"
                    "\"dur\":10,\"args\":{\"at\":\"%s\",\"%s\":\"%s\",\"list\":[1,{\"%s\":null}]}},"
                    "\n",
                    k == 0           ? "kernel"
                            : k == 1 ? "copy"
                                     : name,
                    name, 1000 + (unsigned long)i, (unsigned long)(i + k * 11), name, name, name,
                    name);
    }
    fputs("{\"ph\":\"M\",\"name\":\"gpuexec\",\"args\":{\"notes\":[", file);
    for (i = 0; i < count; i++) fprintf(file, "%s\"%s\"", i ? "," : "", names[i]);
    fputs("]}}\n]\n", file);
    CHECK_EQ(fclose(file), 0);
    page = draw(NULL);
    if (page) {
        CHECK_EQ(count_events(page), 3 * (count + 1));
        CHECK_TEXT(page, "&lt;/script&gt;&lt;script&gt;alert(1)", "\\u003c/script>",
                "title='&#39; onmouseover=&#39;alert(1)'", "%s%n%d", "\xE6\x97\xA5");
        CHECK(strstr(page, "<script>alert") == NULL);
        free(page);
    }
    remove_folder();
}

/* The form of numbers and of lines may differ from gpuexec's own. */
TEST(other_forms) {
    char *page;
    if (!set_folder()) return;
    write_text(JSON,
            "  [  \r\n"
            " { \"args\" : { \"at\" : 7 , \"bytes\" : \"many\" } , \"dur\" : 25e-1 , \"name\" : "
            "\"k\" , "
            "\"ts\" : 1E3 , \"cat\" : \"kernel\" , \"ph\" : \"X\" } , \r\n"
            "{\"ph\":\"X\",\"name\":\"k\",\"cat\":\"kernel\",\"ts\":-0.0004,\"dur\":0.0016,\"tid\":"
            "-3}\n"
            "{\"ph\":\"I\",\"name\":\"other\",\"ts\":1000000000.0015,\"unknown\":{\"a\":[]},\"id\":"
            "\"0x7\"},\n"
            "{\"ph\":\"C\",\"name\":\"counter\",\"ts\":1},{\"ph\":\"C\",\"name\":\"counter\","
            "\"ts\":1}\n");
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "line 5");
    write_text(JSON,
            "  [  \r\n"
            " { \"args\" : { \"at\" : 7 , \"bytes\" : \"many\" } , \"dur\" : 25e-1 , \"name\" : "
            "\"k\" , "
            "\"ts\" : 1E3 , \"cat\" : \"kernel\" , \"ph\" : \"X\" } , \r\n"
            "{\"ph\":\"X\",\"name\":\"k\",\"cat\":\"kernel\",\"ts\":-0.0004,\"dur\":0.0016,\"tid\":"
            "-3}\n"
            "{\"ph\":\"I\",\"name\":\"other\",\"ts\":1000000000.0015,\"unknown\":{\"a\":[]},\"id\":"
            "\"0x7\"},\n"
            "{\"ph\":\"C\",\"name\":\"counter\",\"ts\":1}\n]");
    page = draw(NULL);
    if (page) {
        CHECK_EQ(count_events(page), 3);
        CHECK_EQ(number_after(page, "\"span\":"), 1000000000002LL);
        CHECK_EQ(number_after(page, "\"ignored\":"), 1);
        CHECK_TEXT(page, "\"d\":[2,2500,-1]", "k</button><td data-v=2>2<td data-v=2502>",
                "\\\"at\\\":7,\\\"bytes\\\":\\\"many\\\"");
        free(page);
    }
    remove_folder();
}

/* Rows of nested events; an end that rounding puts after the next begin; pairs of arrows. */
TEST(rows_and_arrows) {
    char *page;
    if (!set_folder()) return;
    write_text(JSON,
            "[\n"
            "{\"ph\":\"X\",\"name\":\"c\",\"cat\":\"call\",\"ts\":2,\"dur\":1},\n"
            "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"range\",\"ts\":1,\"dur\":9},\n"
            "{\"ph\":\"X\",\"name\":\"b\",\"cat\":\"range\",\"ts\":1,\"dur\":4},\n"
            "{\"ph\":\"X\",\"name\":\"d\",\"cat\":\"range\",\"ts\":9.999,\"dur\":1},\n"
            "{\"ph\":\"f\",\"name\":\"waits for\",\"cat\":\"order\",\"id\":2,\"ts\":8},\n"
            "{\"ph\":\"s\",\"name\":\"waits for\",\"cat\":\"order\",\"id\":2,\"ts\":3},\n"
            "{\"ph\":\"s\",\"name\":\"waits for\",\"cat\":\"order\",\"id\":3,\"ts\":3},\n"
            "{\"ph\":\"f\",\"name\":\"enqueues\",\"cat\":\"launch\",\"id\":3,\"ts\":4},\n"
            "{\"ph\":\"s\",\"name\":\"enqueues\",\"cat\":\"launch\",\"id\":2,\"ts\":2.5},\n"
            "{\"ph\":\"f\",\"name\":\"enqueues\",\"cat\":\"launch\",\"id\":2,\"ts\":2.5,\"pid\":9}"
            "\n]\n");
    page = draw(NULL);
    if (page) {
        CHECK_TEXT(page, "\"t\":[0,0,1000,7999]", "\"d\":[9000,4000,1000,1000]", "\"r\":[0,1,2,0]",
                "\"arrows\":[[1,1500,0,0,1],[0,500,0,5000,0]]");
        free(page);
    }
    remove_folder();
}
/* More lanes, levels and kernels than a picture has room for. */
TEST(many_lanes_and_kernels) {
    FILE *file;
    int i;
    char *page, *picture;
    if (!set_folder()) return;
    if (!CHECK((file = fopen(JSON, "wb")) != NULL)) return;
    fputs("[\n", file);
    for (i = 0; i < 3000; i++)
        fprintf(file,
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":%d,\"tid\":%d,\"ts\":%d,"
                "\"dur\":%d},\n",
                i, 1000 + i / 500, i / 10, i % 10 * 3, 70 - i % 10 * 6);
    fputs("]\n", file);
    CHECK_EQ(fclose(file), 0);
    page = draw(NULL);
    picture = read_text(PICTURE, NULL);
    if (CHECK(page && picture)) {
        CHECK_EQ(count_events(page), 3000);
        CHECK_TEXT(picture, "260 more lanes", "and 2992 more");
    }
    free(page);
    free(picture);
    remove_folder();
}
/* Bytes of a file change at random: it is drawn, or refused with the number of a line. */
TEST(random_damage) {
    char *text, *copy;
    size_t bytes;
    uint32_t seed = 7;
    int i, k, drawn = 0, refused = 0;
    if (!set_folder()) return;
    timeline_write(JSON, 60);
    text = read_text(JSON, &bytes);
    copy = malloc(bytes);
    for (i = 0; i < 1500; i++) {
        static const char likely[] = "{}[]\",:\\\n0e-.\xFF"
                                     "X";
        memcpy(copy, text, bytes);
        for (k = 0; k <= i % 3; k++) {
            const uint32_t at = test_random(&seed) % (uint32_t)bytes, with = test_random(&seed);
            copy[at] = with & 1 ? likely[with / 2 % (sizeof likely - 1)] : (char)(with >> 8);
        }
        write_bytes(JSON, copy, bytes);
        if (gpuexec_timeline_page(JSON, PAGE) == GPUEXEC_OK) {
            if (drawn++ % 8 == 0) free(draw(NULL));
        } else {
            refused++;
            CHECK_TEXT(gpuexec_error_text(), "line ");
        }
    }
    CHECK(drawn > 100 && refused > 100);
    free(text);
    free(copy);
    remove_folder();
}
TEST(arguments_and_files) {
    char path[128], *old;
    if (!set_folder()) return;
    timeline_write(JSON, 20);
    CHECK_FAILED(gpuexec_timeline_page(NULL, PAGE), GPUEXEC_BAD_ARGUMENT, "\"json_path\" is NULL");
    CHECK_FAILED(gpuexec_timeline_page(JSON, NULL), GPUEXEC_BAD_ARGUMENT, "\"page_path\" is NULL");
    CHECK_FAILED(gpuexec_timeline_page(JSON, JSON), GPUEXEC_BAD_ARGUMENT, JSON,
            "neither in .html nor in .svg");
    CHECK_FAILED(gpuexec_timeline_page(JSON, ".html"), GPUEXEC_BAD_ARGUMENT, "neither");
    CHECK_FAILED(gpuexec_timeline_page(PAGE, PAGE), GPUEXEC_BAD_ARGUMENT, PAGE, "both");
    CHECK_FAILED(gpuexec_timeline_page(folder, PAGE), GPUEXEC_FILE_ERROR, folder, "a directory");
    CHECK_FAILED(gpuexec_timeline_page(PICTURE, PAGE), GPUEXEC_FILE_ERROR, "cannot open", PICTURE);
    CHECK_FAILED(gpuexec_timeline_page("/dev/null", PAGE), GPUEXEC_FILE_ERROR, "a device");
    snprintf(path, sizeof path, "%s/none/page.html", folder);
    CHECK_FAILED(gpuexec_timeline_page(JSON, path), GPUEXEC_FILE_ERROR, "cannot write", path);
    CHECK_EQ(mkdir(PAGE, 0700), 0);
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, PAGE, "a directory");
    CHECK_EQ(rmdir(PAGE), 0);
    CHECK_EQ(mkfifo(PAGE, 0600), 0);
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, PAGE, "a FIFO");
    CHECK_FAILED(gpuexec_timeline_page(PAGE, PICTURE), GPUEXEC_FILE_ERROR, PAGE, "a FIFO");
    CHECK_EQ(remove(PAGE), 0);
    write_text(PAGE, "an older page");
    free(draw(NULL)); /* replaces it */
    old = read_text(PAGE, NULL);
    CHECK_TEXT(old, "<!DOCTYPE html>");
    free(old);
    remove_folder();
}
/* No space: the older page stays, and nothing else. */
TEST_ALONE(a_page_that_does_not_fit) {
    struct rlimit limit = { 10000, 10000 };
    char *old;
    if (!set_folder()) return;
    timeline_write(JSON, 2000);
    write_text(PAGE, "an older page");
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_FAILED(gpuexec_timeline_page(JSON, PAGE), GPUEXEC_FILE_ERROR, "cannot write", PAGE,
            strerror(EFBIG));
    CHECK_FAILED(gpuexec_timeline_page(JSON, PICTURE), GPUEXEC_FILE_ERROR, "cannot write", PICTURE);
    old = read_text(PAGE, NULL);
    CHECK_STRING(old, "an older page");
    free(old);
    remove_folder();
}
static gpuexec_result draw_both(void) {
    const gpuexec_result result = gpuexec_timeline_page(JSON, PAGE);
    return result ? result : gpuexec_timeline_page(JSON, PICTURE);
}
TEST(memory_runs_out) {
    if (!set_folder()) return;
    timeline_write(JSON, 60);
    test_running_dry(draw_both, 2000);
    remove_folder();
}
TEST_ALONE(no_driver_is_needed) {
    if (!set_folder()) return;
    setenv("GPUEXEC_DRIVER", "/no/such/driver.so", 1);
    timeline_write(JSON, 20);
    free(draw(NULL));
    CHECK_EQ(gpuexec_device_count(), 0);
    gpuexec_take_error();
    remove_folder();
}

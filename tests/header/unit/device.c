/* device.c - the devices of the machine. */
#include "../../test.h"

/* CUdevice_attribute numbers from cuda.h. */
enum {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_X = 2,
    SHARED_PER_BLOCK = 8,
    WARP_SIZE = 10,
    CLOCK_KHZ = 13,
    MULTIPROCESSORS = 16,
    MAJOR = 75,
    MINOR = 76,
    SHARED_OPTIN = 97
};

static int attribute(int device, int number) {
    int value = -1;
    CHECK_OK(gpuexec_device_get_attribute(device, number, &value));
    return value;
}

TEST(every_device_describes_itself) {
    int count = gpuexec_device_count(), i;
    CHECK(count > 0);
    for (i = 0; i < count; i++) {
        gpuexec_device_info d;
        int used = 0;
        size_t k;
        memset(&d, 0xff, sizeof d);
        CHECK_OK(gpuexec_device_get_info(i, &d));
        CHECK(d.name[0] != 0);
        CHECK(memchr(d.name, 0, sizeof d.name) != NULL);
        CHECK_TEXT(d.pci_bus_id, ":", ".");
        for (k = 0; k < sizeof d.uuid; k++) used |= d.uuid[k];
        CHECK(used != 0);
        CHECK(d.compute_capability >= 50);
        CHECK_EQ(d.compute_capability, attribute(i, MAJOR) * 10 + attribute(i, MINOR));
        CHECK_EQ(d.multiprocessors, attribute(i, MULTIPROCESSORS));
        CHECK(d.multiprocessors > 0);
        CHECK_EQ(d.warp_size, 32);
        CHECK_EQ(d.warp_size, attribute(i, WARP_SIZE));
        CHECK_EQ(d.max_threads_per_block, attribute(i, MAX_THREADS_PER_BLOCK));
        CHECK_EQ(d.max_threads_per_block, 1024);
        CHECK(d.max_threads_per_multiprocessor >= d.max_threads_per_block);
        CHECK_EQ(d.max_block[0], attribute(i, MAX_BLOCK_X));
        CHECK_EQ(d.max_grid[0], 0x7fffffff);
        CHECK_EQ(d.max_grid[1], 65535);
        CHECK_EQ(d.clock_khz, attribute(i, CLOCK_KHZ));
        CHECK_EQ(d.shared_per_block, attribute(i, SHARED_PER_BLOCK));
        CHECK_EQ(d.shared_per_block_optin, attribute(i, SHARED_OPTIN));
        CHECK(d.shared_per_block_optin >= d.shared_per_block);
        CHECK(d.registers_per_block >= 32768);
        CHECK(d.total_memory > ((size_t)64 << 20));
        CHECK(d.async_engines >= 0 && d.l2_bytes > 0);
        CHECK(d.cooperative_launch == 0 || d.cooperative_launch == 1);
        CHECK(d.integrated == 0 || d.integrated == 1);
    }
}

TEST(the_memory_is_that_of_the_context) {
    gpuexec_device_info d;
    size_t total = 0;
    CHECK_OK(gpuexec_device_get_info(0, &d));
    CHECK_OK(gpuexec_context_get_memory(gpuexec_context_open(0, NULL), NULL, &total));
    /* a driver may reserve some */
    CHECK(total <= d.total_memory && total > d.total_memory / 10 * 9);
}

TEST(no_such_device) {
    gpuexec_device_info d;
    int value, count = gpuexec_device_count();
    char number[32];
    CHECK_RESULT(gpuexec_device_get_info(-1, &d), GPUEXEC_NO_DEVICE);
    CHECK_TEXT(gpuexec_error_text(), "-1");
    CHECK_RESULT(gpuexec_device_get_info(count, &d), GPUEXEC_NO_DEVICE);
    snprintf(number, sizeof number, "%d", count);
    CHECK_TEXT(gpuexec_error_text(), number);
    CHECK_RESULT(gpuexec_device_get_attribute(4711, 1, &value), GPUEXEC_NO_DEVICE);
    CHECK_TEXT(gpuexec_error_text(), "4711");
    CHECK_OK(gpuexec_take_error()); /* queries latch nothing */
}

TEST(wrong_queries) {
    int value;
    CHECK_RESULT(gpuexec_device_get_info(0, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_RESULT(gpuexec_device_get_attribute(0, 1, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK(gpuexec_device_get_attribute(0, 1000000, &value) != GPUEXEC_OK);
    CHECK_TEXT(gpuexec_error_text(), "1000000");
    CHECK_OK(gpuexec_take_error());
}

TEST(peers) {
    int count = gpuexec_device_count(), a, b;
    for (a = 0; a < count; a++)
        for (b = 0; b < count; b++) {
            int can = gpuexec_device_can_access_peer(a, b);
            CHECK(can == 0 || can == 1);
            if (a == b) CHECK_EQ(can, 0); /* the driver returns 0: a device is not its own peer */
        }
    CHECK_EQ(gpuexec_device_can_access_peer(0, 9999), 0);
    CHECK_EQ(gpuexec_device_can_access_peer(-1, 0), 0);
    CHECK_OK(gpuexec_take_error());
}

/* ---- the report ---- */

TEST_MULTI(the_report) {
    const int count = gpuexec_device_count();
    char text[20000], links[20000], shorter[20], line[400];
    gpuexec_device_info d;
    const char *at = text;
    size_t n = gpuexec_devices_text(text, sizeof text);
    int i, pools = 0;
    CHECK(n > 0 && n == strlen(text) && n < sizeof text);
    snprintf(line, sizeof line, "driver: CUDA %d.%d, %s\n", gpuexec_driver_version() / 1000,
            gpuexec_driver_version() % 1000 / 10, gpuexec_driver_path());
    CHECK(strncmp(text, line, strlen(line)) == 0);
    for (i = 0; i < count && at; i++) {
        CHECK_OK(gpuexec_device_get_info(i, &d));
        snprintf(line, sizeof line,
                "\ndevice %d: %s\n  compute capability %d.%d at %s, %d multiprocessors, ", i,
                d.name, d.compute_capability / 10, d.compute_capability % 10, d.pci_bus_id,
                d.multiprocessors);
        if (!CHECK((at = strstr(at, line)) != NULL)) return;
        at++;
        snprintf(line, sizeof line,
                "\n  uuid %02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n",
                d.uuid[0], d.uuid[1], d.uuid[2], d.uuid[3], d.uuid[4], d.uuid[5], d.uuid[6],
                d.uuid[7], d.uuid[8], d.uuid[9], d.uuid[10], d.uuid[11], d.uuid[12], d.uuid[13],
                d.uuid[14], d.uuid[15]);
        CHECK_TEXT(at, line);
        snprintf(line, sizeof line, "\n  a grid: at most %d x %d x %d blocks\n", d.max_grid[0],
                d.max_grid[1], d.max_grid[2]);
        CHECK_TEXT(at, line, "warps of 32;");
        snprintf(line, sizeof line, "for each block: %d registers, %d KiB of shared memory, %d KiB",
                d.registers_per_block, (int)(d.shared_per_block / 1024),
                (int)(d.shared_per_block_optin / 1024));
        CHECK_TEXT(at, line);
        CHECK_OK(gpuexec_device_get_attribute(i, 115, &pools));
        CHECK_TEXT(at, pools ? "memory pools: yes; managed memory: " : "memory pools: no; ");
    }
    CHECK(gpuexec_topology_text(links, sizeof links) > 0);
    if (count > 1) CHECK_TEXT(text, "\nlinks between the devices:\n", links);
    else CHECK(!strstr(text, "links between"));
    CHECK_EQ(gpuexec_devices_text(NULL, 0), n);
    CHECK_EQ(gpuexec_devices_text(shorter, sizeof shorter), n);
    CHECK_EQ(strlen(shorter), sizeof shorter - 1);
    CHECK_OK(gpuexec_take_error());
}
/* What the devices report is in the text; it opens no context; without a driver it says why. */
TEST_ALONE(the_report_of_played_devices) {
    char text[20000];
    int active = 1;
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_DEVICE_1", "name=Played;120=0;115=0;83=0;89=0;18=1;95=0", 1);
    if (!on_cpu_device()) SKIP("only the CPU device can be played");
    CHECK(gpuexec_devices_text(text, sizeof text) > 0);
    CHECK_TEXT(text, "\ndevice 1: Played\n",
            "cooperative launches: yes; clusters: yes; memory shared with the host: no\n"
            "  memory pools: yes; managed memory: yes, also while kernels run\n",
            "cooperative launches: no; clusters: no; memory shared with the host: yes\n"
            "  memory pools: no; managed memory: no\n",
            "links between the devices:\n");
    CHECK_OK(gpuexec_primary_get_state(0, NULL, &active));
    CHECK_EQ(active, 0);
}
TEST_ALONE(the_report_without_a_driver) {
    char text[20] = "x";
    setenv("GPUEXEC_DRIVER", "/no/such/driver", 1);
    CHECK_EQ(gpuexec_devices_text(text, sizeof text), 0);
    CHECK_STRING(text, "");
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_devices_text", "/no/such/driver");
}

/* ---- links between devices ---- */

TEST_MULTI(links) {
    const int count = gpuexec_device_count();
    gpuexec_device_link link;
    char text[20000], shorter[20], number[32];
    int a, b;
    size_t n;
    for (a = 0; a < count; a++)
        for (b = 0; b < count; b++) {
            memset(&link, 0xff, sizeof link);
            CHECK_OK(gpuexec_device_get_link(a, b, &link));
            CHECK_EQ(link.access, a == b || gpuexec_device_can_access_peer(a, b));
            CHECK(link.rank >= 0 && (a != b || link.rank == 0));
            CHECK(link.native_atomics == 0 || link.native_atomics == link.access);
            CHECK(link.array_access == 0 || link.array_access == link.access);
        }
    n = gpuexec_topology_text(text, sizeof text);
    CHECK_EQ(n, strlen(text));
    CHECK_TEXT(text, "NVLink: with all atomics");
    snprintf(number, sizeof number, "\n%4d ", count - 1);
    CHECK_TEXT(text, number);
    CHECK_EQ(gpuexec_topology_text(NULL, 0), n);
    CHECK_EQ(gpuexec_topology_text(shorter, sizeof shorter), n);
    CHECK_EQ(strlen(shorter), sizeof shorter - 1);
    CHECK_RESULT(gpuexec_device_get_link(0, 0, NULL), GPUEXEC_BAD_ARGUMENT);
    CHECK_RESULT(gpuexec_device_get_link(0, count, &link), GPUEXEC_NO_DEVICE);
    CHECK_RESULT(gpuexec_device_get_link(-1, 0, &link), GPUEXEC_NO_DEVICE);
    CHECK_TEXT(gpuexec_error_text(), "gpuexec_device_get_link: there is no device -1");
    CHECK_OK(gpuexec_take_error());
}

/* The text of the CPU device's topologies, without its legend. */
static void topology(const char *peers, const char *matrix) {
    char text[2000], *end;
    setenv("SIMGPU_DEVICES", "3", 1);
    setenv("SIMGPU_PEERS", peers, 1);
    if (!on_cpu_device()) SKIP("only the CPU device has topologies to choose from");
    CHECK(gpuexec_topology_text(text, sizeof text) > 0);
    if ((end = strstr(text, "\nRows: ")) != NULL) *end = 0;
    CHECK_STRING(text, matrix);
}
#define OF_ROWS(a, b, c) "              0          1          2\n   0" a "\n   1" b "\n   2" c
#define SELF "          -"
#define NO "         no"
#define PCIE "    PCIe 1a"
#define NVL "  NVLink 0a"
TEST_ALONE_MULTI(topology_all) {
    topology("all", OF_ROWS(SELF NVL NVL, NVL SELF NVL, NVL NVL SELF));
}
TEST_ALONE_MULTI(topology_none) { topology("none", OF_ROWS(SELF NO NO, NO SELF NO, NO NO SELF)); }
TEST_ALONE_MULTI(topology_pairs) {
    topology("pairs", OF_ROWS(SELF NVL NO, NVL SELF NO, NO NO SELF));
}
TEST_ALONE_MULTI(topology_pcie) {
    topology("pcie", OF_ROWS(SELF PCIE PCIE, PCIE SELF PCIE, PCIE PCIE SELF));
}
TEST_ALONE_MULTI(topology_mixed) {
    topology("mixed", OF_ROWS(SELF NVL PCIE, NVL SELF PCIE, PCIE PCIE SELF));
}

/* Links that no available machine has: some atomics, CUDA arrays; a driver that knows no attribute
   5; failures. */
static int link_values[6], link_fails; /* by attribute; -1: not known */
static int can_access(int *can, int from, int to) {
    *can = link_values[2];
    return from == to;
}
static int p2p_attribute(int *value, int attribute, int from, int to) {
    if (link_fails || from == to) return link_fails ? link_fails : 101;
    if (link_values[attribute] < 0) return 1;
    *value = link_values[attribute];
    return 0;
}
TEST_MULTI(links_that_are_played) {
    static const struct {
        int values[6];
        const char *cell;
        gpuexec_device_link link;
    } rows[] = {
        { { 0, 3, 1, 0, 1, 1 }, " PCIe 3sa", { 1, 3, 0, 1, 1 } },
        { { 0, 1, 1, 0, 0, 1 }, " PCIe 1s", { 1, 1, 0, 1, 0 } },
        { { 0, 0, 1, 1, 1, 0 }, " NVLink 0a", { 1, 0, 1, 0, 1 } },
        { { 0, 2, 1, 1, -1, -1 }, " NVLink 2", { 1, 2, 1, 0, 0 } },
        { { 0, 7, 0, 1, 1, 1 }, " no", { 0, 0, 0, 0, 0 } },
    };
    gpuexec_device_link link;
    char text[20000];
    size_t i;
    if (gpuexec_device_count() < 2) SKIP("needs 2 devices");
    test_replace("cuDeviceCanAccessPeer", (test_function)can_access);
    test_replace("cuDeviceGetP2PAttribute", (test_function)p2p_attribute);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(link_values, rows[i].values, sizeof link_values);
        CHECK_OK(gpuexec_device_get_link(0, 1, &link));
        CHECK(memcmp(&link, &rows[i].link, sizeof link) == 0);
        CHECK(gpuexec_topology_text(text, sizeof text) > 0);
        CHECK_TEXT(text, rows[i].cell);
    }
    link_values[2] = 1;
    link_fails = 999;
    CHECK_RESULT(gpuexec_device_get_link(0, 1, &link), GPUEXEC_DRIVER_ERROR);
    CHECK_TEXT(gpuexec_error_text(), "cannot query the link from device 0 to device 1",
            "cuDeviceGetP2PAttribute");
    CHECK_EQ(link.access, 0);
    CHECK_EQ(gpuexec_topology_text(text, sizeof text), 0);
    CHECK_STRING(text, "");
    CHECK_OK(gpuexec_take_error());
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

enum { MOST = 8 };
/* [0]: how many, in total_memory; the others: the devices */
static gpuexec_device_info seen[MOST + 1];
static const char *visible_now, *visible_fails;

static int answers; /* a file without a name */

static void see(void) {
    int i, count;
    if (visible_now) setenv("CUDA_VISIBLE_DEVICES", visible_now, 1);
    else unsetenv("CUDA_VISIBLE_DEVICES");
    memset(seen, 0, sizeof seen);
    count = gpuexec_device_count();
    for (i = 0; i < count && i < MOST; i++) CHECK_OK(gpuexec_device_get_info(i, &seen[i + 1]));
    seen[0].total_memory = (size_t)i;
    if (!count) CHECK_TEXT(gpuexec_error_text(), visible_fails);
    CHECK_EQ(pwrite(answers, seen, sizeof seen, 0), sizeof seen);
}

/* How many devices a process sees; they are in seen[1] and so on. */
static int devices_seen(const char *visible) {
    visible_now = visible;
    if (!CHECK(run_child(see))) return -1;
    CHECK_EQ(pread(answers, seen, sizeof seen, 0), sizeof seen);
    return (int)seen[0].total_memory;
}

/* Measured on two H200s, driver 580. */
TEST_ALONE_MULTI(visible_devices) {
    static const struct {
        const char *visible;
        int n, first, second;
    } cases[] = {
        { "0", 1, 0, 0 },
        { "1", 1, 1, 0 },
        { "1,0", 2, 1, 0 },
        { " 1, 0", 2, 1, 0 },
        { "1gpu,0", 2, 1, 0 },
        { "1,-1,0", 1, 1, 0 },
        { "0,99,1", 1, 0, 0 },
        { "1,x,0", 1, 1, 0 },
        { "0,,1", 1, 0, 0 },
        { "", 0, 0, 0 },
        { "-1", 0, 0, 0 },
        { "-1,0", 0, 0, 0 },
        { "99", 0, 0, 0 },
        { "none", 0, 0, 0 },
        { "0,0", 0, 0, 0 },
        { "0,1,0", 0, 0, 0 },
        { "GPU-0000000000000000", 0, 0, 0 },
    };
    FILE *file = tmpfile();
    gpuexec_device_info all[MOST + 1];
    char names[100];
    size_t i, k;
    if (!CHECK(file != NULL)) return;
    answers = fileno(file);
    setenv("SIMGPU_DEVICES", "3", 1);
    if (devices_seen(NULL) < 2) SKIP("needs two devices");
    memcpy(all, seen, sizeof all);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n;
        /* a device named twice */
        visible_fails = strncmp(cases[i].visible, "0,", 2) == 0 ? "(101)" : "(100)";
        n = devices_seen(cases[i].visible);
        if (!CHECK_EQ(n, cases[i].n))
            printf("with CUDA_VISIBLE_DEVICES=\"%s\"\n", cases[i].visible);
        else if (n) {
            CHECK_STRING(seen[1].pci_bus_id, all[1 + cases[i].first].pci_bus_id);
            CHECK(memcmp(seen[1].uuid, all[1 + cases[i].first].uuid, sizeof seen[1].uuid) == 0);
            if (n > 1) CHECK_STRING(seen[2].pci_bus_id, all[1 + cases[i].second].pci_bus_id);
        }
    }
    for (i = 2, names[0] = 0; i > 0; i--) { /* by UUID: device 1, then device 0 */
        if (*names) strcat(names, ",");
        strcat(names, "GPU-");
        for (k = 0; k < sizeof all[i].uuid; k++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%02x",
                    k >= 4 && k <= 10 && k % 2 == 0 ? "-" : "", all[i].uuid[k]);
    }
    if (CHECK_EQ(devices_seen(names), 2))
        for (i = 0; i < 2; i++)
            CHECK(memcmp(seen[1 + i].uuid, all[2 - i].uuid, sizeof all[0].uuid) == 0);
    fclose(file);
}

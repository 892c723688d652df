/* kernel.h - kernels, from their text to their launch: JIT options, images, link states, modules,
   functions, libraries, launches by the program and by other kernels. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

/* CU_JIT_MAX_REGISTERS, _THREADS_PER_BLOCK, _MAX_THREADS_PER_BLOCK, _MIN_CTA_PER_SM (0: not given),
   and whether they replace the directives of the text */
struct sim_jit_limits {
    unsigned registers, threads, most_threads, blocks;
    bool override;
};
enum { SIM_DEFAULT = -1 };
/* what cuFuncSetAttribute and similar calls set */
struct sim_preferences {
    int max_dynamic, carveout, cache_config; /* max_dynamic: SIM_DEFAULT until it is set or the code
                                                is known */
    int cluster[5];                          /* width, height, depth, whether more than 8, policy */
};
struct sim_by_name {
    const char *name;
    unsigned index;
}; /* sorted, for sim_find_name */
struct sim_function {
    uint64_t handle;
    struct sim_module *module;
    const struct sim_kernel *kernel; /* NULL: its module belongs to no library */
    struct sim_func *func;
    struct sim_code *code; /* NULL: not needed yet */
    struct sim_preferences prefers;
    unsigned own; /* a bit for each attribute that was set for this function, and that its kernel no
                     longer sets */
    bool no_effect; /* the body is only `ret`: whether its blocks run is not observable */
    struct sim_staged *staged; /* what its next cuLaunch uses; NULL: nothing set yet */
};
/* driver/cuParam.c */
struct sim_staged {
    unsigned block[3], shared, bytes;
    unsigned char params[4096];
};
struct sim_module {
    struct sim_link link;
    uint64_t handle;
    struct sim_context *context; /* NULL: of a library, and in no context yet */
    unsigned refs; /* the handle's, and one per grid in flight: the code of an unloaded module is
                      freed after the last one */
    struct sim_image *image;
    struct sim_jit_limits limits;
    bool prints;  /* uses vprintf */
    bool borrows; /* its managed variables are its library's */
    struct sim_function *functions;
    unsigned nfunctions;                    /* entries, in the text's order */
    struct sim_by_name *by_name;            /* of the same number */
    struct sim_reference *references;       /* that the program got */
    struct sim_module **siblings, *sibling; /* the list of its library's modules, and the next in
                                               it */
};
struct sim_kernel {
    uint64_t handle;
    struct sim_library *library;
    char *name;
    unsigned index; /* in the functions of each of the library's modules */
    struct sim_preferences prefers[SIM_MAX_DEVICES];
};

/* jit.c */
struct sim_log_option {
    char *text;
    size_t size;
    void **slot;
    bool wanted;
};
struct sim_jit_options {
    struct sim_log_option info, error;
    void **wall;
    bool verbose, has_target, unsupported;
    int target;
    struct sim_jit_limits limits;
};
/* one text at a time; taken without sim_lock */
extern pthread_mutex_t sim_load_lock;
int sim_max_ptx(void); /* highest .version of the simulated driver: 90 for CUDA 13.0 */
int sim_jit_read(struct sim_jit_options *o, unsigned n, const int *options, void **values);
void sim_jit_write_log(const struct sim_log_option *o, const struct sim_log *log);
void sim_jit_write_wall(const struct sim_jit_options *o, uint64_t ns);
void sim_jit_say(int result, const struct sim_log *errors); /* to stderr, with SIMGPU_VERBOSE */
void sim_jit_write(const struct sim_jit_options *o, struct sim_log *errors, struct sim_log *info,
        uint64_t ns, int result);   /* all of these; frees the logs */
bool sim_jit_is_for_us(int target); /* target: CU_JIT_TARGET; 0: not given */
void sim_report_globals(
        struct sim_log *log, const struct sim_image *image, unsigned from, const char *who);
/* of the inputs from this one on */
/* a cubin, another ELF file or a fatbin, by its first bytes */
bool sim_is_binary(const void *image);
/* not for a GPU; the driver does not know this format */
bool sim_is_host_elf(const void *image);
size_t sim_image_bytes(const void *image); /* as much as is read of it */
enum { SIM_TAIL = 24 }; /* zeros after a file's bytes, which may be read as a header */
/* 301, or 304 where it cannot be read */
int sim_read_file(const char *path, char **text, size_t *bytes);

/* devrt.c */
/* whether it is CUDA's libcudadevrt.a */
bool sim_is_device_runtime(const char *archive, size_t size);
extern const char sim_device_runtime[]; /* what this device has as PTX */

/* fatbin.c: without sim_lock, or with it */
bool sim_is_fatbin(const void *image);
bool sim_is_wrapper(const void *image); /* has pointers to fatbins */
size_t sim_fatbin_bytes(const void *image);
/* for each PTX text: a name, NUL, the text, NUL; the caller frees the bytes */
struct sim_texts {
    char *bytes;
    size_t len;
    uint64_t count;
};
int sim_texts_add(struct sim_texts *texts, const char *name, const char *text, size_t bytes);
/* Adds the PTX that this device would take. 200: damaged; 209: none; 303: a library that
   decompresses is missing. */
int sim_fatbin_texts(const void *image, size_t limit, const char *name, struct sim_log *log,
        struct sim_texts *texts);
int sim_object_texts(const void *object, size_t size, const char *name, struct sim_log *log,
        struct sim_texts *texts);
int sim_archive_texts(const void *archive, size_t size, const char *name, struct sim_log *log,
        struct sim_texts *texts);

/* link.c */
int sim_link_texts(
        const struct sim_texts *texts, bool more, struct sim_log *errors, struct sim_image **out);
/* more: others may follow */
/* [lock] a text did not compile: results of later failed links depend on it */
void sim_link_remember(int result);
bool sim_is_linked(const char *text); /* whether cuLinkComplete wrote it */
/* The inputs of such a text, and CU_JIT_MAX_REGISTERS of its link. 200: damaged; 209: for another
   CU_JIT_TARGET. */
int sim_linked_texts(
        const char *text, struct sim_log *log, unsigned *registers, struct sim_texts *texts);
/* A link state, in sim_linker_add and sim_linker_complete by its handle: they release sim_lock
   meanwhile. */
struct sim_linker;
int sim_linker_new(unsigned n, const int *options, void **values, void **out);
int sim_linker_add(void *handle, int type, char *text, size_t size, const char *given, unsigned n,
        const int *options, void **values); /* takes over the text, behind which are SIM_TAIL
                                               zeros */
int sim_linker_complete(const void *handle, void **out, size_t *size);
void sim_linker_free(struct sim_linker *state);

/* module.c: names of functions and kernels; a module is parsed and placed without sim_lock, then
   opened; the caller frees it if this fails */
void sim_sort_names(struct sim_by_name *names, unsigned n);
/* the first one, or -1 */
int sim_find_name(const struct sim_by_name *names, unsigned n, const char *name);
int sim_module_parse(const void *text, size_t limit, const struct sim_jit_options *o,
        struct sim_log *errors, struct sim_module **out);
int sim_module_place(struct sim_module *module, struct sim_context *context); /* its variables */
/* of a library: managed: its managed variables, which all modules share; NULL until the first one
   is placed */
struct sim_addresses {
    uint64_t *at;
    unsigned n;
};
int sim_module_place_shared(
        struct sim_module *module, struct sim_context *context, struct sim_addresses *managed);
int sim_module_open(struct sim_module *module); /* [lock] its handles */
/* [lock] its handles, variables and the handle's reference */
void sim_module_free(struct sim_module *module);
void sim_module_unref(struct sim_module *module);
int sim_module_global(const struct sim_module *module, const char *name,
        unsigned long long *address, size_t *bytes);
/* of a texture or surface variable; 500: there is none */
int sim_module_reference(struct sim_module *module, bool is_surface, const char *name, void **out);
int sim_function_need(struct sim_function *function); /* [lock], released meanwhile: decodes it */
int sim_default_dynamic(uint32_t static_shared);
/* of a block, from directives and options */
unsigned sim_threads_limit(const struct sim_function *function);
unsigned sim_registers(const struct sim_function *function); /* of a thread, from all of these */
extern const struct sim_preferences sim_no_preferences;
int sim_module_load(
        void **out, const void *text, size_t limit, unsigned n, const int *options, void **values);
/* [lock], released meanwhile: into the current context */

/* function.c */
/* per multiprocessor; threads per block that registers allow */
struct sim_occupancy {
    int blocks, max_threads;
};
struct sim_occupancy sim_occupancy(
        const struct sim_function *function, unsigned threads, uint64_t dynamic_shared);
int sim_most_threads(const struct sim_function *f); /* in a block: from registers and .maxntid */
int sim_attribute(
        const struct sim_function *f, const struct sim_preferences *p, int attribute, int *value);
int sim_prefer(const struct sim_function *f, struct sim_preferences *p, int attribute, int value);
int sim_param_info(const struct sim_function *f, size_t index, size_t *offset, size_t *bytes);
/* per multiprocessor */
int sim_launch_blocks(const struct sim_function *f, int threads, size_t shared);

/* library.c */
struct sim_library {
    uint64_t handle;
    bool claimed, parsed, owns_text;
    const char *text;
    size_t limit; /* bytes of the text, if it was a file */
    struct sim_jit_options options;
    int result;                         /* of the parse */
    struct sim_module *plain, *modules; /* in no context; one in each context that needed it */
    struct sim_kernel *kernels;
    unsigned nkernels;
    struct sim_by_name *by_name;  /* of the same number */
    struct sim_addresses managed; /* variables: one for all contexts, as measured */
};
/* owned: the text, to be freed with the library, instead of `text`; or NULL */
int sim_library_new(
        void **out, const char *text, size_t limit, char *owned, const struct sim_jit_options *o);
void sim_library_free(struct sim_library *library); /* in no context any more */
/* for this thread alone, until it clears `claimed`; NULL: not a library, or no longer one */
struct sim_library *sim_library_claim(const void *handle);
int sim_library_parse(struct sim_library *library);                  /* [claimed] */
int sim_library_module(const void *handle, struct sim_module **out); /* in the current context */
/* a function of the kernel in any context or none, decoded */
int sim_kernel_any(const void *handle, const struct sim_function **out);
int sim_function_find(const void *handle, struct sim_context *context, struct sim_function **out);
/* [lock], released meanwhile: a function, or a kernel's function in the context */

/* launch.c */
struct sim_launch {
    void *function, *stream;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    const void *buffer; /* what extra says */
    size_t bytes;
    struct sim_attributes set;
    uint64_t sms;    /* that its blocks may run on */
    void *events[2]; /* to record: when the grid ends, or when its blocks have started; or NULL */
};
int sim_launch_on(struct sim_launch *l);
int sim_launch_configured(const CUlaunchConfig *c, void *f, void **params, void **extra);
/* of a stream: for its later launches */
int sim_launch_stream_set(struct sim_stream *s, unsigned id, const CUlaunchAttributeValue *value);
int sim_launch_stream_get(const struct sim_stream *s, unsigned id, CUlaunchAttributeValue *value);
/* on several devices */
int sim_launch_multi(const CUDA_LAUNCH_PARAMS *list, unsigned n, unsigned flags);
/* resident at once */
int sim_launch_clusters(const CUlaunchConfig *c, struct sim_function *f, int *out);
int sim_launch_largest_cluster(const CUlaunchConfig *c, struct sim_function *f, int *out);
int sim_kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *params, const struct sim_attributes *set,
        struct sim_work *out);
/* [lock], released meanwhile; the operation's data is the set */
int sim_kernel_set(
        const struct sim_work *work, const CUlaunchAttribute *attribute, struct sim_work *out);
/* the same with another value */
int sim_kernel_copy_set(
        const struct sim_work *work, const struct sim_attributes *set, struct sim_work *out);
int sim_kernel_get(const struct sim_work *work, unsigned id, CUlaunchAttributeValue *value);
struct sim_function *sim_launch_function(const struct sim_op *op);
struct sim_op *sim_launch_copy(struct sim_op *model); /* ready to be submitted; NULL: no memory */
int sim_launch_nested(struct sim_op *parent, struct sim_function *f, const unsigned grid[3],
        const unsigned block[3], unsigned shared, void *params, size_t bytes,
        struct sim_op **out); /* [lock], released meanwhile; ready to be submitted */
int sim_launch(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
        void *stream, void **extra);

/* uses.c: what a kernel accesses, for SIMGPU_ACCESS */
/* of a launch, or of the one that it repeats; NULL: no memory */
struct sim_uses *sim_uses_new(const struct sim_op *op, const struct sim_func *f);
void sim_uses_write(const struct sim_grid *g); /* a line of the file */
void sim_uses_free(struct sim_uses *uses);

/* nested.c */
void sim_nested_start(void); /* makes it available to kernels */

#endif

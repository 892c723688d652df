/*  cc examples/context_stack.c -o context_stack && ./context_stack

    The thread's stack of current contexts. gpuexec's own calls do not depend on it, but driver calls of your own and
    the CUDA runtime's do. This program pushes and pops, lets a scope do it, hands a floating context to another thread,
    lets two users hold one context, and shows what gpuexec says when somebody else pops what it has pushed.

    Prints (addresses and lines differ):
        one context current, and one below it:
          | context 0x55d0c8a3f2a0 on device 0, current, pushed at examples/context_stack.c:66
          | context 0x55d0c8a1c8b0 on device 0, pushed at examples/context_stack.c:65
        in a scope, left by return: ours was current there, nothing is after it
        on another thread: the context was current there, too
        of two users one has left: memory 2 MiB can still be had; the last one has left: the handle is stale
        somebody else has popped ours:
          | examples/context_stack.c:97: gpuexec_context_pop: context 0x55d0c8a1c8b0, pushed at
          examples/context_stack.c:94, has been popped ...
          |   cure: between the two places, look for a cuCtxPopCurrent without a push, or a cuCtxSetCurrent(NULL)
*/
#include "example.h"
#include <pthread.h>
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

static void print_indented(const char *text)
{
    for (; *text; text += strcspn(text, "\n") + 1) printf("  | %.*s\n", (int)strcspn(text, "\n"), text);
}
static void must(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "wrong: %s\n%s", what, gpuexec_error_text());
    exit(1);
}

/* The driver's own call, as a library beside us would make it: which device is current? -1 if no context is. */
static int current_device(void)
{
    union { void *p; int (*f)(int *); } get;
    int device = -1;
    get.p = gpuexec_driver_symbol("cuCtxGetDevice", 2000);
    return get.p && get.f(&device) == 0 ? device : -1;
}

static int works_in(gpuexec_context context)
{
    GPUEXEC_CONTEXT_SCOPE(context) {
        if (current_device() >= 0) return 1;                        /* leaves the scope: it is popped */
    }
    return 0;
}

static void *on_another_thread(void *context)
{
    static int device = -1;
    GPUEXEC_CONTEXT_SCOPE(*(gpuexec_context *)context) device = current_device();
    /* what failed on a thread is told on that thread */
    must(gpuexec_take_error() == GPUEXEC_OK, "the other thread's scope");
    return &device;
}

int main(void)
{
    char text[1000];
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    must(current_device() == -1, "nothing is current at first");    /* opening and making contexts leaves that alone */

    gpuexec_context_push(a);
    gpuexec_context_push(b);
    must(gpuexec_take_error() == GPUEXEC_OK && current_device() == 0, "pushing");
    gpuexec_context_stack_text(text, sizeof text);
    printf("one context current, and one below it:\n");
    print_indented(text);
    must(gpuexec_context_pop(b) == GPUEXEC_OK && gpuexec_context_is_current(a), "popping restores the one below");
    must(gpuexec_context_pop(a) == GPUEXEC_OK && current_device() == -1, "popping the last");

    must(works_in(b) && current_device() == -1, "a scope");
    printf("in a scope, left by return: ours was current there, nothing is after it\n");

    pthread_t thread;                                               /* b floats now: any thread can take it */
    void *device = NULL;
    must(pthread_create(&thread, NULL, on_another_thread, &b) == 0 && pthread_join(thread, &device) == 0, "the thread");
    must(*(int *)device == 0 && current_device() == -1, "the other thread's current context is not ours");
    printf("on another thread: the context was current there, too\n");

    /* as another library would, with its own copy of gpuexec */
    gpuexec_context user = gpuexec_context_attach(gpuexec_context_native(b));
    if (gpuexec_ok(user)) {
        must(gpuexec_context_close(b) == GPUEXEC_OK, "the first user leaves");
        must(gpuexec_alloc(user, 2 << 20) != 0, "the context lives on");
        must(gpuexec_context_close(user) == GPUEXEC_OK && gpuexec_context_sync(user) == GPUEXEC_STALE_HANDLE,
             "the last user leaves");
        printf("of two users one has left: memory 2 MiB can still be had; "
               "the last one has left: the handle is stale\n");
    } else print_indented(gpuexec_why(user));                       /* a driver that does not count */
    gpuexec_take_error();

    union { void *p; int (*f)(struct CUctx_st **); } pop;
    struct CUctx_st *popped = NULL;
    gpuexec_context_push(a);
    pop.p = gpuexec_driver_symbol("cuCtxPopCurrent", 4000);
    must(pop.p && pop.f(&popped) == 0 && popped == gpuexec_context_native(a), "somebody else pops");
    must(gpuexec_context_pop(a) == GPUEXEC_WRONG_CONTEXT, "and it is noticed");
    printf("somebody else has popped ours:\n");
    print_indented(gpuexec_error_text());
    return gpuexec_shutdown() != GPUEXEC_OK;
}

/* objects.h - the map of objects/: what the objects behind the handles of the CUDA driver API are
   and do. The entry points in driver/ check their arguments and call these functions.

   context.h: handles, devices, contexts, streams, events, the error log
     handles.c   handles, rings of objects, the thread's current context error_log.c the error log
     shared.c    events between processes
     device.c    devices and their attributes
     context.c   contexts, the threads' context stacks, peer access
     green.c     green contexts, and the multiprocessors that they are made of
     stream.c    streams: their order as edges between operations
     event.c     events
   memory.h: memory
     reserve.c   what memory pools reserve and keep
     pool.c      memory pools: allocate and free in stream order
     managed.c   managed memory: allocate, prefetch, advise
     virtual.c   virtual memory: allocations, mappings, access
     alloc.c     allocate, free, describe
     copy.c      copy, also in batches, fill, wait for values
     ipc.c       memory, events and pools between processes
   array.h: arrays, textures, surfaces
     array.c     arrays, also mipmapped ones
     texture.c   texture and surface objects
     reference.c texture and surface references
   kernel.h: kernels, from their text to their launch
     jit.c       JIT options, kinds of images
     devrt.c     libcudadevrt.a, and what this device has as PTX for it
     fatbin.c    PTX inside fatbins and objects
     link.c      link states
     module.c    modules function.c  functions, and how many blocks of them a multiprocessor has
     room for
     library.c   libraries and kernels, which need no context
     launch.c    kernel launches
     uses.c      SIMGPU_ACCESS: the bytes that a kernel accesses
     nested.c    the device runtime: kernels that launch kernels
   graph.h: graphs and captures
     kept.c      what graphs keep: user objects, conditions
     graph.c     graphs and their nodes
     capture.c   captures, and what they forbid
     plan.c      what an executable graph does
     exec.c      executable graphs
     node.c      the nodes that the program adds, and their parameters

   No two files depend on each other. A context keeps what is created in it in rings, each object
   with the function that ends it: so context.c does not depend on memory, kernels and graphs.

   sim_lock guards all of this: functions are called with it held. Where the comment of a group says
   that they are called without it, [lock] marks those that need it. */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "../base/base.h"
#include "../base/cudadefs.h"
#include "../text/text.h"
#include "../lower/lower.h"
#include "../run/run.h"
#include "context.h"
#include "memory.h"
#include "array.h"
#include "kernel.h"
#include "graph.h"

#endif

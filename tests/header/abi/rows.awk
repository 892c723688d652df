# The rows that abi.cpp compares, from gpuexec.h, tests/simgpu/base/cudadefs.h and
# build/entry_points.h. Each follows what run.sh needs: the name that CUDA's headers must have for
# it; the CUDA version that introduced it (0: not known); the suffix of the variant for per-thread
# default streams (none: there must be none, -: not checked).

# Constants of gpuexec.h have CUDA's names with a shorter prefix, or another name if that would be
# unclear or clash with a gpuexec_result.
BEGIN {
    n = split("FUNC_ FUNC_ATTRIBUTE_ DEV_ DEVICE_ATTRIBUTE_ P2P_ DEVICE_P2P_ATTRIBUTE_ " \
              "POINTER_ POINTER_ATTRIBUTE_ JIT_ JIT_ " \
              "STREAM_ STREAM_ GRAPH_NODE_ GRAPH_NODE_ GRAPH_COND_ GRAPH_COND_ " \
              "GRAPH_KERNEL_ GRAPH_KERNEL_ GRAPH_DEPENDENCY_ GRAPH_DEPENDENCY_ " \
              "EVENT_ EVENT_ MEMHOSTALLOC_ MEMHOSTALLOC_ " \
              "MEMHOSTREGISTER_ MEMHOSTREGISTER_ " \
              "MEMORYTYPE_ MEMORYTYPE_ MEMCPY_ MEMCPY_ MEM_ MEM_ MEMPOOL_ MEMPOOL_ " \
              "IPC_ IPC_ LIBRARY_ LIBRARY_ MODULE_ MODULE_ " \
              "RESOURCE_TYPE_ RESOURCE_TYPE_ TRSA_ TRSA_ TRSF_ TRSF_", word, " ")
    for (i = 1; i < n; i += 2) { prefix[++prefixes] = word[i]; full[prefixes] = word[i + 1] }
    n = split("SUCCESS CUDA_SUCCESS SYMBOL_NOT_FOUND CUDA_ERROR_NOT_FOUND " \
              "CU_NOT_READY CUDA_ERROR_NOT_READY CU_NOT_SUPPORTED CUDA_ERROR_NOT_SUPPORTED " \
              "OUT_OF_RESOURCES CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES " \
              "COOPERATIVE_TOO_LARGE CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE " \
              "JIT_COMPILER_NOT_FOUND CUDA_ERROR_JIT_COMPILER_NOT_FOUND " \
              "JIT_COMPILATION_DISABLED CUDA_ERROR_JIT_COMPILATION_DISABLED " \
              "IPC_LAZY_PEER_ACCESS CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS " \
              "LAUNCH_COOPERATIVE CU_LAUNCH_ATTRIBUTE_COOPERATIVE " \
              "LAUNCH_CLUSTER_DIMENSION CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION " \
              "LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION " \
              "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION " \
              "LAUNCH_PRIORITY CU_LAUNCH_ATTRIBUTE_PRIORITY " \
              "LAUNCH_MEM_SYNC_DOMAIN CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN " \
              "LAUNCH_ACCESS_POLICY_WINDOW CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW " \
              "LAUNCH_SYNCHRONIZATION_POLICY CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY " \
              "LAUNCH_CLUSTER_SCHEDULING_POLICY_PREFERENCE " \
              "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE " \
              "LAUNCH_PROGRAMMATIC_EVENT CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT " \
              "LAUNCH_MEM_SYNC_DOMAIN_MAP CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP " \
              "LAUNCH_PREFERRED_CLUSTER_DIMENSION " \
              "CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION " \
              "LAUNCH_LAUNCH_COMPLETION_EVENT CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT " \
              "LAUNCH_DEVICE_UPDATABLE_KERNEL_NODE " \
              "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE " \
              "LAUNCH_PREFERRED_SHARED_MEMORY_CARVEOUT " \
              "CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT " \
              "LAUNCH_PARAM_BUFFER_POINTER CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT " \
              "LAUNCH_PARAM_BUFFER_SIZE CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT " \
              "FUNC_CLUSTER_SCHEDULING_POLICY " \
              "CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE " \
              "CU_MEMPOOL_ATTR_REUSE_FIRST CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES " \
              "CU_MEMPOOL_ATTR_REUSE_LAST CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES " \
              "CU_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC " \
              "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC " \
              "CU_MULTI_DEVICE_NO_POST_LAUNCH_SYNC " \
              "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC",
              word, " ")
    for (i = 1; i < n; i += 2) other[word[i]] = word[i + 1]
    split("CU_MEMHOSTALLOC_ALL CU_MEMHOSTREGISTER_ALL CU_CTX_FLAGS_MASK " \
          "CU_JIT_NUM_OPTIONS CU_JIT_NUM_INPUT_TYPES", word, " ")
    for (i in word) own[word[i]] = 1    # all flags that simgpu knows, and ends of lists, which grow
}
function cuda(name,    i) {
    if (name in other) return other[name]
    if (name ~ /^ARRAY3D_/) return "CUDA_" name
    for (i = 1; i <= prefixes; i++)
        if (index(name, prefix[i]) == 1) return "CU_" full[i] substr(name, length(prefix[i]) + 1)
    return "CUDA_ERROR_" (name ~ /^CAPTURE_/ ? "STREAM_" : "") name
}
function constant(macro, ours, theirs) { print theirs, 0, "-", macro "(" ours ", " theirs ")" }

FILENAME ~ /gpuexec.h$/ {
    if (match($0, /^ *ROW\([A-Z]+, *cu[A-Za-z0-9_]+, *[0-9]+,/)) {
        split(substr($0, RSTART, RLENGTH), word, /[ (,]+/)
        for (i = 1; word[i] != "ROW"; i++) { }
        base = word[i + 2]
        sub(/_[0-9]+$/, "", base)
        print "PFN_" base "_v" word[i + 3], word[i + 3], "-",
              "ENTRY(" word[i + 1] ", " word[i + 2] ", " base ", " word[i + 3] ")"
    }
    if (/^\/\* The CUDA constants that the implementation uses/) constants = 1
    if (/^}/) constants = 0
    while (constants && match($0, /GXI_[A-Z0-9_]+ =/)) {
        constant("CONSTANT", substr($0, RSTART, RLENGTH - 2),
            cuda(substr($0, RSTART + 4, RLENGTH - 6)))
        $0 = substr($0, RSTART + RLENGTH)
    }
}
FILENAME ~ /cudadefs.h$/ {
    if (match($0, /X\([A-Z0-9_]+, [0-9]/)) {
        ours = "CUDA_" substr($0, RSTART + 2, RLENGTH - 5)
        constant("SIM_CONSTANT", ours, ours)
    }
    if (/^enum/) enumeration = 1
    line = $0
    while (enumeration && match(line, /CU(DA)?_[A-Za-z0-9_]+/)) {
        ours = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        theirs = ours in other ? other[ours] : ours
        if (ours ~ /^CU_LAUNCH_PARAM_/) theirs = theirs "_AS_INT"
        if (!(ours in own)) constant("SIM_CONSTANT", ours, theirs)
    }
    if (/}/) enumeration = 0
}
/^DRIVER_ROW\(simgpu/ { next } # only the CPU device has these
match($0, /^(DRIVER|MISSING)_ROW\([^()]*/) {
    split(substr($0, index($0, "(") + 1, RLENGTH - index($0, "(")), word, / *, */)
    print "PFN_" word[1] "_v" word[2], word[2], word[4] == "" ? "none" : word[4],
          (/^M/ ? "SIM_MISSING(" : "SIM_ENTRY(") word[1] ", " word[2] ", " word[3] ")"
}

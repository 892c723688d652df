# gpuexec: plain GNU make, no configure step. `make help` lists the targets.
#
# The library is one header, gpuexec.h, which needs no build. This file builds the examples, the
# tests, and the CPU device (build/libsimgpu.so) on which they run on machines without a GPU.

ifeq ($(SAN),thread)
BUILD     ?= build/tsan
SAN_FLAGS := -fsanitize=thread -fno-omit-frame-pointer
else ifneq ($(filter-out 0,$(SAN)),)
BUILD     ?= build/san
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
BUILD     ?= build
endif
CC        ?= cc
CXX       ?= c++
CFLAGS    ?= -O2 -g
PREFIX    ?= /usr/local
export CC CXX CFLAGS BUILD SAN_FLAGS

# One job per processor, unless -j sets another number.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
endif

WARN   := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wstrict-prototypes
STRICT := $(WARN) -Wconversion -Wsign-conversion -Wcast-qual
ifneq ($(filter-out 0,$(WERROR)),)
WARN   += -Werror
STRICT += -Werror
endif
comma  := ,
DEPEND  = -MMD -MP -MF $@.d

# Prints one short line for each step; with V=1, its command.
ifneq ($(filter-out 0,$(V)),)
step =
else
step = @echo '  $(1) $@' &&
endif

SIMGPU   := $(BUILD)/libsimgpu.so
SIM_OBJ  := $(patsubst tests/simgpu/%.c,$(BUILD)/simgpu/%.o,$(wildcard tests/simgpu/*/*.c))
# Without a C++ compiler, those in C only.
HAS_CXX  := $(shell echo 'int main() {}' | $(CXX) -x c++ -std=c++11 -fsyntax-only - 2>&1 || echo no)
EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c)) \
    $(if $(HAS_CXX),,$(patsubst %.cpp,$(BUILD)/%,$(wildcard examples/*.cpp)))
TESTS    := $(patsubst %.c,$(BUILD)/unit/%,$(notdir $(wildcard tests/*/unit/*.c)))
BENCHES  := $(addprefix $(BUILD)/bench/,launch calls pool virtual graph batch copies start cache \
    validation timeline multi allreduce)
FIND_DEVICE := $(BUILD)/find_device
ANSWERS  := $(BUILD)/answers
FREEZER  := build/freezer
RANDOM   := $(BUILD)/random
TEXELS   := $(BUILD)/texels
TENSORS  := $(BUILD)/tensors
BOXES    := $(BUILD)/boxes
FORMS    := $(BUILD)/forms
FUZZERS  := $(addprefix $(BUILD)/fuzz/,parser executor params handles driver fatbin nested cache \
    timeline)
FUZZ_OBJ := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(notdir $(wildcard tests/*/fuzz/*.c)))

all: simgpu examples tests

simgpu: $(SIMGPU)
examples: $(EXAMPLES)
tests: $(TESTS) $(FIND_DEVICE) $(RANDOM) $(TEXELS) $(TENSORS) $(BOXES) $(FORMS) $(ANSWERS)
fuzzers: $(FUZZERS) $(BUILD)/fuzz/words

# The rows of entry points, for the CPU device and the tests. What includes them is compiled again
# only if they differ.
ENTRY_POINTS := $(BUILD)/entry_points.h
$(ENTRY_POINTS): gpuexec.h tests/support/entry_points.rows tests/support/entry_points.awk
	@mkdir -p $(@D)
	@awk -f tests/support/entry_points.awk gpuexec.h tests/support/entry_points.rows > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# The CPU device. No contraction: PTX itself says where it fuses a multiply-add. No code reads errno
# or the floating-point exceptions; without them, lane operations vectorise. Line numbers only for
# sanitizers, or with SIM_DEBUG=-g: they cost the compiler a tenth of its time.
SIM_DEBUG  = $(if $(SAN_FLAGS),-g1)
SIM_CFLAGS = -std=gnu99 -I$(BUILD) -O2 $(SIM_DEBUG) -fPIC -fvisibility=hidden -ffp-contract=off \
    -fno-math-errno \
    -fno-trapping-math -pthread $(WARN) $(SAN_FLAGS)
$(BUILD)/simgpu/%.o: tests/simgpu/%.c | $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(CC) $(SIM_CFLAGS) $(DEPEND) -c $< -o $@
# The thread sanitizer leaves out the files that compute in a warp's registers, which only one
# thread at a time uses: it would make them ten times slower. It also leaves out the loads and
# stores of kernels, which order shared data themselves.
ifeq ($(SAN),thread)
REGISTERS_ONLY := $(patsubst %,$(BUILD)/simgpu/execute/%.o,alu avx2 avx2_float avx2_memory compare \
    cvt float half ldst \
    matrix video)
$(REGISTERS_ONLY): SIM_CFLAGS += -fno-sanitize=thread
endif
# The lane operations exist twice, for every x86-64 and for AVX2. A machine that has AVX2 never uses
# the first, so there the compiler does not optimise them, which halves the time of this build.
# PORTABLE=1: both fast, to copy the library to other machines.
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
$(patsubst %,$(BUILD)/simgpu/execute/%.o,avx2 avx2_float avx2_memory): \
    SIM_CFLAGS += -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -Wno-unknown-pragmas
ifeq ($(filter-out 0,$(PORTABLE))$(shell grep -c -m 1 ' fma .* avx2 .* bmi2 ' \
    /proc/cpuinfo 2>/dev/null),1)
$(patsubst %,$(BUILD)/simgpu/execute/%.o,alu atom compare cvt float half ldst matrix shuffle \
    video): \
    SIM_CFLAGS += -O0 -DSIM_BASELINE_UNUSED
endif
endif
$(SIMGPU): $(SIM_OBJ)
	$(call step,link   ) $(CC) -shared $(or $(SAN_FLAGS),-Wl$(comma)-z$(comma)defs) \
	    -Wl,-soname,libsimgpu.so -o $@ \
	    $(SIM_OBJ) -lm -ldl -lpthread

# Each example and each test is one C file and one program. Here they share one copy of the
# implementation, which takes the compiler longer than all of them together, with -O1 half as long
# as with -O2; elsewhere each example compiles alone, as its first line shows. Tests that use the
# header's internals (WHITE_BOX) compile the whole header, with -O0, in a third of the time. What
# compiles it does so without a warning that takes gcc seconds in a long file; `.ci/run matrix` has
# it.
UNIT_CFLAGS ?= $(patsubst -O2,-O0,$(CFLAGS))
C99 = $(CC) -std=c99 -I$(BUILD) $(if $(filter $(BUILD)/unit/%,$@),$(UNIT_CFLAGS),$(CFLAGS)) \
    -ffp-contract=off \
    $(STRICT) $(SAN_FLAGS) $(DEPEND)
IMPLEMENTATION := $(BUILD)/implementation.o
$(IMPLEMENTATION): CFLAGS := $(patsubst -O2,-O1,$(CFLAGS))
$(IMPLEMENTATION): tests/support/implementation.c
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -Wno-misleading-indentation -c $< -o $@
$(BUILD)/examples/%: examples/%.c $(IMPLEMENTATION)
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED $< $(IMPLEMENTATION) -o $@ -ldl -lpthread
$(BUILD)/examples/%: examples/%.cpp $(IMPLEMENTATION)
	@mkdir -p $(@D)
	$(call step,compile) $(CXX) -std=c++11 -ffp-contract=off $(CFLAGS) \
	    $(filter-out -Wstrict-prototypes,$(STRICT)) $(SAN_FLAGS) $(DEPEND) \
	    -DGPUEXEC_IMPLEMENTED $< $(IMPLEMENTATION) -o $@ -ldl -lpthread
# mpi_jacobi uses MPI if the machine has one; a sanitizer would report MPI itself.
ifeq ($(SAN_FLAGS)$(shell echo '\#include <mpi.h>' | mpicc -E -x c - >/dev/null 2>&1 || \
    echo without),)
$(BUILD)/examples/mpi_jacobi: override private CC := OMPI_CC='$(CC)' MPICH_CC='$(CC)' mpicc
$(BUILD)/examples/mpi_jacobi: override private CFLAGS += -DWITH_MPI
endif
WHITE_BOX := $(patsubst %,$(BUILD)/unit/%,access memory module nvjitlink nvtx played)
.SECONDEXPANSION:
$(WHITE_BOX): $(BUILD)/unit/%: $$(wildcard tests/*/unit/$$*.c) | $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -Wno-misleading-indentation $< -o $@ -lm -ldl -lpthread
$(filter-out $(WHITE_BOX),$(TESTS)): $(BUILD)/unit/%: $$(wildcard tests/*/unit/$$*.c) \
    $(IMPLEMENTATION) | \
    $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED $< $(IMPLEMENTATION) -o $@ -lm -ldl -lpthread
# Libraries that play NVRTC and nvJitLink, for the suites nvrtc, nvjitlink and cache; old, and
# lacking a function.
PLAYED_NVRTC     := $(BUILD)/play_nvrtc.so $(BUILD)/play_nvrtc_old.so
PLAYED_NVJITLINK := $(BUILD)/play_nvjitlink.so $(BUILD)/play_nvjitlink_old.so \
    $(BUILD)/play_nvjitlink_lacks.so
$(PLAYED_NVRTC): tests/support/play_nvrtc.c
$(PLAYED_NVJITLINK): tests/support/play_nvjitlink.c
# One that plays an NVTX tool, for the suite nvtx.
PLAYED_NVTX      := $(BUILD)/play_nvtx.so
$(PLAYED_NVTX): tests/support/play_nvtx.c
# Those that play CUPTI, for the suite cupti.
PLAYED_CUPTI     := $(BUILD)/play_cupti.so $(BUILD)/play_cupti_lacks.so
$(PLAYED_CUPTI): tests/support/play_cupti.c tests/support/play_cupti.h
$(PLAYED_NVRTC) $(PLAYED_NVJITLINK) $(PLAYED_NVTX) $(PLAYED_CUPTI):
	@mkdir -p $(@D)
	$(call step,compile) $(C99) $(if $(findstring old,$@),-DOLD) \
	    $(if $(findstring lacks,$@),-DLACKS) -shared -fPIC \
	    $< -o $@
$(BUILD)/unit/nvrtc $(BUILD)/unit/cache: C99 += -DPLAYED_NVRTC='"$(BUILD)/play_nvrtc"'
$(BUILD)/unit/nvrtc $(BUILD)/unit/cache: | $(PLAYED_NVRTC)
$(BUILD)/unit/nvjitlink $(BUILD)/unit/cache: C99 += -DPLAYED_NVJITLINK='"$(BUILD)/play_nvjitlink"'
$(BUILD)/unit/nvjitlink $(BUILD)/unit/cache: | $(PLAYED_NVJITLINK)
$(BUILD)/unit/nvtx: C99 += -DPLAYED_NVTX='"$(BUILD)/play_nvtx.so"' \
    -DPLAYED_NVRTC='"$(BUILD)/play_nvrtc.so"'
$(BUILD)/unit/nvtx: | $(PLAYED_NVTX) $(BUILD)/play_nvrtc.so
$(BUILD)/unit/cupti: C99 += -DPLAYED_CUPTI='"$(BUILD)/play_cupti"'
$(BUILD)/unit/cupti: | $(PLAYED_CUPTI)
$(BUILD)/bench/%: tests/bench/%.c | $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(C99) $< -o $@ -ldl -lpthread
$(FIND_DEVICE): tests/support/find_device.c
$(FORMS): tests/device/forms/forms.c
$(FIND_DEVICE) $(FORMS): $(IMPLEMENTATION)
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED $(filter %.c,$^) $(IMPLEMENTATION) -o $@ \
	    -ldl -lpthread

# The probe, one object for each file; and what stops a suite at random moments.
$(BUILD)/answers.d/%.o: tests/device/probe/%.c | $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(CC) -std=c99 -I$(BUILD) $(UNIT_CFLAGS) $(STRICT) $(SAN_FLAGS) \
	    $(DEPEND) -c $< -o $@
$(ANSWERS): $(patsubst tests/device/probe/%.c,$(BUILD)/answers.d/%.o, \
    $(wildcard tests/device/probe/*.c))
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@ -ldl -lpthread
$(FREEZER): tests/support/freezer.c
	@mkdir -p $(@D)
	$(call step,compile) $(CC) -std=c99 $(CFLAGS) $(STRICT) $< -o $@

$(BUILD)/random.d/%.o: tests/device/random/%.c
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED -c $< -o $@
$(RANDOM): $(patsubst tests/device/random/%.c,$(BUILD)/random.d/%.o, \
    $(wildcard tests/device/random/*.c)) $(IMPLEMENTATION)
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@ -ldl -lpthread

$(BUILD)/texels.d/%.o: tests/device/texels/%.c
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED -c $< -o $@
$(TEXELS): $(patsubst tests/device/texels/%.c,$(BUILD)/texels.d/%.o, \
    $(wildcard tests/device/texels/*.c)) $(IMPLEMENTATION)
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@ -ldl -lpthread -lm

$(BUILD)/tensors.d/%.o: tests/device/tensors/%.c
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED -c $< -o $@
$(TENSORS): $(patsubst tests/device/tensors/%.c,$(BUILD)/tensors.d/%.o, \
    $(wildcard tests/device/tensors/*.c)) $(IMPLEMENTATION)
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@ -ldl -lpthread
$(BUILD)/boxes.d/%.o: tests/device/boxes/%.c
	@mkdir -p $(@D)
	$(call step,compile) $(C99) -DGPUEXEC_IMPLEMENTED -c $< -o $@
$(BOXES): $(patsubst tests/device/boxes/%.c,$(BUILD)/boxes.d/%.o, \
    $(wildcard tests/device/boxes/*.c)) $(IMPLEMENTATION)
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@ -ldl -lpthread

# The fuzzing harnesses of tests/*/fuzz, by default as programs that run files. FUZZ_ENGINE is the
# compiler flag that uses libFuzzer instead of main.c.
FUZZ_CC = $(CC) -std=gnu99 -I$(BUILD) $(UNIT_CFLAGS) $(STRICT) -Wno-misleading-indentation \
    $(SAN_FLAGS) $(DEPEND)
$(FUZZ_OBJ): $(BUILD)/fuzz/%.o: $$(wildcard tests/*/fuzz/$$*.c) | $(ENTRY_POINTS)
	@mkdir -p $(@D)
	$(call step,compile) $(FUZZ_CC) -fPIC $(if $(FUZZ_ENGINE),-DFUZZ_ENGINE) -c $< -o $@
$(BUILD)/fuzz/play_%.o: tests/support/play_%.c
	@mkdir -p $(@D)
	$(call step,compile) $(FUZZ_CC) -fPIC -c $< -o $@
$(BUILD)/fuzz/libsimgpu.so: $(SIM_OBJ) \
    $(addprefix $(BUILD)/fuzz/,hook.o play_nvrtc.o play_nvjitlink.o)
	$(call step,link   ) $(CC) -shared $(SAN_FLAGS) -Wl,-soname,libsimgpu.so -o $@ $^ -lm -ldl \
	    -lpthread
$(BUILD)/fuzz/timeline: $(IMPLEMENTATION)
$(FUZZERS): %: %.o $(BUILD)/fuzz/grammar.o $(BUILD)/fuzz/$(if $(FUZZ_ENGINE),mutate,main).o | \
    $(BUILD)/fuzz/libsimgpu.so
	$(call step,link   ) $(CC) $(SAN_FLAGS) $(FUZZ_ENGINE) $^ -o $@ -L$(@D) -lsimgpu \
	    -Wl,-rpath,'$$ORIGIN' -ldl -lpthread
$(BUILD)/fuzz/words: $(BUILD)/fuzz/words.o $(BUILD)/fuzz/grammar.o
	$(call step,link   ) $(CC) $(SAN_FLAGS) $^ -o $@

# On the GPU if there is one, otherwise on the CPU device; GPUEXEC_DRIVER in the environment selects
# another driver.
run: $(SIMGPU) $(FIND_DEVICE) $(EXAMPLES)
	@sh examples/run.sh $(BUILD) $(EXAMPLES)
check: $(SIMGPU) $(FIND_DEVICE) $(TESTS) $(RANDOM) $(TEXELS) $(TENSORS) $(BOXES) $(FORMS) \
    $(ANSWERS) $(FUZZERS)
	@sh tests/check.sh $(BUILD)

# How much of gpuexec.h the tests reach on the CPU device, measured by gcov. Nothing is inlined, so
# that each line is counted once; children of tests end with exit, which writes the counts.
COVERAGE := $(BUILD)/coverage
COVERED  := $(filter-out %/corpus %/kernels %/driver,$(TESTS:$(BUILD)/%=$(COVERAGE)/%)) \
    $(patsubst %.c,$(COVERAGE)/%,$(wildcard examples/*.c))
COVERAGE_FLAGS := -O0 -g --coverage -fprofile-update=atomic -Dalways_inline=unused -D_exit=exit
coverage: $(SIMGPU)
	@$(MAKE) --no-print-directory CC=gcc BUILD=$(COVERAGE) CFLAGS='$(COVERAGE_FLAGS)' $(COVERED)
	@COVERAGE_FLAGS='$(COVERAGE_FLAGS)' sh tests/support/coverage.sh $(COVERAGE) $(abspath $(SIMGPU))

# Runs clang's libFuzzer for FUZZ_SECONDS on each harness (FUZZERS_ONLY="parser handles": only on
# these), as many at a time as there are processors.
FUZZ_SECONDS ?= 600
FUZZ_FLAGS   := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
    -fno-omit-frame-pointer \
    -fno-sanitize-coverage=trace-cmp
fuzz:
	$(MAKE) fuzzers CC=$(if $(findstring clang,$(CC)),'$(CC)',clang) BUILD=build/fuzzing \
	    FUZZ_ENGINE=-fsanitize=fuzzer \
	    SAN_FLAGS='$(FUZZ_FLAGS)'
	@sh tests/support/fuzz/fuzz.sh build/fuzzing $(FUZZ_SECONDS) \
	    $(or $(FUZZERS_ONLY),$(notdir $(FUZZERS)))

# Measures what calls cost on a GPU, compared with the driver's own calls and others; see
# BENCHMARKS.md. On the CPU device the figures mean nothing.
bench: $(SIMGPU) $(FIND_DEVICE) $(BENCHES)
	@sh tests/bench/bench.sh $(BUILD) $(BENCHES)

# Measures how many thread-instructions per second the CPU device executes.
bench-simgpu: $(BUILD)/bench/simgpu $(SIMGPU)
	GPUEXEC_DRIVER=$(SIMGPU) $(BUILD)/bench/simgpu

kernels:
	@sh kernels/make_ptx.sh

VERSION = $(shell sed -n 's/^.define GPUEXEC_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' gpuexec.h | \
    paste -sd. -)
INCLUDE = $(DESTDIR)$(PREFIX)/include
SHARE   = $(DESTDIR)$(PREFIX)/share
install:
	install -d $(INCLUDE) $(SHARE)/gpuexec $(SHARE)/pkgconfig $(SHARE)/cmake/gpuexec
	install -m 644 gpuexec.h kernels/gpuexec_barrier.cuh $(INCLUDE)
	install -m 644 kernels/gpuexec_barrier.ptx $(SHARE)/gpuexec
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' \
	    'simgpu=$${prefix}/lib/gpuexec/libsimgpu.so' '' 'Name: gpuexec' \
	    'Description: kernel execution on NVIDIA GPUs through the CUDA driver API, in one header' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -ldl -lpthread' \
	    > $(SHARE)/pkgconfig/gpuexec.pc
	printf '%s\n' 'if(NOT TARGET gpuexec::gpuexec)' \
	    '    find_package(Threads REQUIRED)' \
	    '    get_filename_component(gpuexec_prefix "$${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)' \
	    '    add_library(gpuexec::gpuexec INTERFACE IMPORTED)' \
	    '    set_target_properties(gpuexec::gpuexec PROPERTIES' \
	    '        INTERFACE_INCLUDE_DIRECTORIES "$${gpuexec_prefix}/include"' \
	    '        INTERFACE_LINK_LIBRARIES "Threads::Threads;$${CMAKE_DL_LIBS}")' \
	    'endif()' > $(SHARE)/cmake/gpuexec/gpuexecConfig.cmake
	printf '%s\n' 'set(PACKAGE_VERSION $(VERSION))' \
	    'if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)' \
	    '    set(PACKAGE_VERSION_COMPATIBLE TRUE)' \
	    'endif()' \
	    'if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)' \
	    '    set(PACKAGE_VERSION_EXACT TRUE)' \
	    'endif()' > $(SHARE)/cmake/gpuexec/gpuexecConfigVersion.cmake
# The CPU device is installed in a folder that no loader searches, under its own name, so that no
# program takes it for a driver: GPUEXEC_DRIVER=$$(pkg-config --variable=simgpu gpuexec) selects it.
install-simgpu: $(SIMGPU)
	install -d $(DESTDIR)$(PREFIX)/lib/gpuexec
	install -m 644 $(SIMGPU) $(DESTDIR)$(PREFIX)/lib/gpuexec/libsimgpu.so
uninstall:
	rm -f $(INCLUDE)/gpuexec.h $(INCLUDE)/gpuexec_barrier.cuh $(SHARE)/pkgconfig/gpuexec.pc
	rm -rf $(SHARE)/gpuexec $(SHARE)/cmake/gpuexec $(DESTDIR)$(PREFIX)/lib/gpuexec

clean:
	rm -rf build $(BUILD)

help:
	@echo 'make             build the CPU device, the examples and the tests'
	@echo 'make run         build and run the examples, on the GPU if there is one, otherwise'
	@echo '                 on the CPU device'
	@echo 'make check       build and run the tests, on the same device; the last line is the total'
	@echo 'make coverage    measure how much of gpuexec.h the tests reach on the CPU device (gcc)'
	@echo 'make fuzz        search for inputs that crash, hang or leak, for FUZZ_SECONDS=600'
	@echo '                 each (needs clang)'
	@echo 'make bench       compare the cost of calls on a GPU with the driver and, if'
	@echo '                 installed, the runtime API and CuPy'
	@echo 'make bench-simgpu  measure how many thread-instructions per second the CPU device executes'
	@echo 'make simgpu      build only the CPU device, build/libsimgpu.so: set GPUEXEC_DRIVER'
	@echo '                 to its path to use it'
	@echo 'make kernels     regenerate kernels/*.ptx from kernels/*.cu (needs nvcc)'
	@echo 'make install     install gpuexec.h, its device barrier, and pkg-config and CMake'
	@echo '                 files in PREFIX ($(PREFIX))'
	@echo 'make install-simgpu  install the CPU device, too, in PREFIX/lib/gpuexec: set'
	@echo '                 GPUEXEC_DRIVER to $$(pkg-config --variable=simgpu gpuexec) to use it'
	@echo 'make uninstall, make clean'
	@echo 'PORTABLE=1       build a CPU device that is fast on every x86-64, not only on this one'
	@echo 'SAN=1            use the address and undefined-behaviour sanitizers, in build/san'
	@echo 'SAN=thread       use the thread sanitizer, in build/tsan'
	@echo 'CC=, CXX=        use other compilers; BUILD=dir: build in dir; WERROR=1: warnings'
	@echo '                 are errors; DESTDIR=dir'

.PHONY: all simgpu examples tests fuzzers run check coverage fuzz bench bench-simgpu kernels \
    install install-simgpu uninstall \
    clean help
.DELETE_ON_ERROR:
-include $(IMPLEMENTATION).d $(SIM_OBJ:=.d) $(EXAMPLES:=.d) $(TESTS:=.d) $(BENCHES:=.d) \
    $(FIND_DEVICE).d $(FORMS).d \
    $(wildcard $(BUILD)/random.d/*.d $(BUILD)/texels.d/*.d $(BUILD)/tensors.d/*.d \
    $(BUILD)/boxes.d/*.d \
    $(BUILD)/answers.d/*.d $(BUILD)/fuzz/*.d)

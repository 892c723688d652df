CC      ?= cc
BUILD   ?= build
SIMGPU  := $(BUILD)/libsimgpu.so
SIM_SRC := $(wildcard tests/simgpu/*.c)
SIM_OBJ := $(SIM_SRC:tests/simgpu/%.c=$(BUILD)/simgpu/%.o)
STRICT  := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wstrict-prototypes
SIM_CFLAGS = -std=gnu99 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off -pthread $(STRICT) $(SAN_FLAGS)

all: $(SIMGPU)
$(BUILD)/simgpu/%.o: tests/simgpu/%.c $(wildcard tests/simgpu/*.h)
	@mkdir -p $(@D)
	$(CC) $(SIM_CFLAGS) -c $< -o $@
$(SIMGPU): $(SIM_OBJ)
	$(CC) -shared $(SAN_FLAGS) -Wl,-soname,libsimgpu.so -o $@ $(SIM_OBJ) -lm -ldl -lpthread

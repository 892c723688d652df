#!/bin/sh
# Runs the random programs on the device that tests/device.sh chose and compares with what an H200 gave; README.md
# beside this says how.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/random" "$@"

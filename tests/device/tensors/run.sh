#!/bin/sh
# Runs the tensor-core programs on the device that tests/support/device.sh chose and compares with
# an H200's results; tensors.c explains how.
cd "$(dirname "$0")/../../.." || exit 1
exec "${BUILD:-build}/tensors" "$@"

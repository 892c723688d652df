#!/bin/sh
# Runs the copies of tensors on the device that tests/support/device.sh chose and
# compares with an H200's results; boxes.c explains how.
cd "$(dirname "$0")/../../.." || exit 1
exec "${BUILD:-build}/boxes" "$@"

#!/bin/sh
# Runs the random programs on the device that tests/support/device.sh chose and compares with an
# H200's results; README.md in this folder explains how.
cd "$(dirname "$0")/../../.." || exit 1
exec "${BUILD:-build}/random" "$@"

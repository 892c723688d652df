#!/bin/sh
# Compares the forms that the device loads with those that ptxas takes; README.md in this folder
# explains how.
cd "$(dirname "$0")/../../.." || exit 1
exec "${BUILD:-build}/forms" "$@"

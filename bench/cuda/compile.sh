#!/usr/bin/env bash
# compile.sh: what of the GPU build can be checked without a GPU. NVRTC translates the
# kernels of all models, and what has the tag cuda is compiled and linked against the
# CUDA headers. Headers and libraries come from CUDA_HOME, or from the Python packages in
# .venv/cuda, which CUDA_FETCH=1 installs first (about 700 MB). What is missing is named
# and skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
skip() {
	echo "GPU build: SKIPPED, $*"
	exit 0
}
command -v "$(go env CC)" >/dev/null || skip "no C compiler ($(go env CC)) on PATH"

venv=.venv/cuda
if [ "${CUDA_FETCH:-}" = 1 ] && [ ! -e "$venv/ready" ]; then
	if python3 -m venv "$venv" && timeout 600 "$venv/bin/pip" install -q nvidia-cuda-runtime nvidia-cuda-nvrtc nvidia-cuda-crt \
		nvidia-cuda-cccl nvidia-cublas; then
		touch "$venv/ready"
	else
		skip "the CUDA packages could not be fetched"
	fi
fi
home=${CUDA_HOME:-/usr/local/cuda}
if [ ! -e "$home/include/nvrtc.h" ]; then
	home=$(ls -d "$PWD/$venv"/lib/python3*/site-packages/nvidia/cu1[0-9] 2>/dev/null | tail -1) || true
	[ -n "$home" ] || skip "no CUDA headers in CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}, and .venv/cuda has none (CUDA_FETCH=1 installs them)"
fi
lib=$(mktemp -d)
trap 'rm -rf "$lib"' EXIT
for name in nvrtc cublas cublasLt; do
	file=$(ls "$home"/lib64/lib$name.so* "$home"/lib/lib$name.so* 2>/dev/null | head -1) || true
	[ -n "$file" ] || skip "no lib$name in $home"
	ln -s "$file" "$lib/lib$name.so"
done
# The driver's library comes with a GPU: an empty one stands in for it, and its symbols
# may stay open.
echo 'int saga_no_driver;' | "$(go env CC)" -shared -x c - -o "$lib/libcuda.so"
# Folders are told to the C compiler alone: Go's build cache takes every other word of
# CGO_CFLAGS and CGO_LDFLAGS, or another folder, for another build. The sum of the headers
# is such a word, so that a changed header is compiled anew.
headers=$({ cat device/include/* "$home"/include/{cuda,nvrtc,cublas_v2,cublas_api}.h 2>/dev/null || true; } | cksum | cut -d' ' -f1)
export CPATH=$PWD/device/include:$home/include:$home/include/cccl LIBRARY_PATH=$lib
export CGO_ENABLED=1 CGO_CFLAGS="-O2 -DSAGA_HEADERS=$headers" CGO_LDFLAGS="-Wl,--unresolved-symbols=ignore-all"
export LD_LIBRARY_PATH=$home/lib64:$home/lib:${LD_LIBRARY_PATH:-}
echo "GPU build: headers and libraries of $home"
go vet -tags cuda ./device/... ./mine/... ./bench/... ./cmd/saga
go build -ldflags=-w -tags cuda -o "$lib/saga" ./cmd/saga
# It starts where there is no GPU, and without the toolkit's libraries.
LD_LIBRARY_PATH=$lib "$lib/saga" version >/dev/null ||
	{ echo "GPU build: bin/saga does not start without a GPU" && exit 1; }
go build -ldflags=-w -tags cuda -o "$lib/bench" ./bench
go build -tags nvrtc ./device/nvrtc
# Tests of the packages as they are built above; go vet has looked at them.
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$lib
go test -tags cuda -vet=off -count=1 -timeout 20m ./device/nvrtc
go test -tags cuda -vet=off -count=1 -run TestCompiles ./mine/cuda

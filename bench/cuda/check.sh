#!/usr/bin/env bash
# check.sh: what to run on a machine with a GPU, Go, a C compiler and the CUDA toolkit,
# in the module's root: the device contract, CPU against GPU, the reference values,
# killed runs and failing calls, then the times. SAGANN_DATA names the folder that holds
# golden/; SAGANN_DEVICE=cuda:0,1 has the tests that can use two GPUs do so.
set -euo pipefail
bin=$(mktemp -d)/saga
cuda=${CUDA_HOME:-/usr/local/cuda}
export CGO_ENABLED=1 CGO_CFLAGS="-I$cuda/include"
export CGO_LDFLAGS="-L$cuda/lib64 -L$cuda/lib64/stubs"
export SAGANN_DEVICE=${SAGANN_DEVICE:-cuda}
go test -tags cuda -count=1 -run CUDA ./device
go test -tags cuda -count=1 ./device/nvrtc ./bench/cuda
SAGANN_DEVICE=${SAGANN_DEVICE%%,*} go test -tags cuda -count=1 -run 'TestGolden|TestTasks|TestBatchNormStreams|TestLinks' ./layers
go test -tags cuda -count=1 -run TestSeveral ./layers
go test -tags cuda -count=1 -run TestEveryFault ./saga
go test -tags cuda -count=1 -run 'TestKill|TestInterrupt' ./cmd/saga
go build -tags cuda -o "$bin" ./cmd/saga
bash bench/cuda/sanitize.sh "$bin"
SANITIZE="--storage bf16 --tf32 --hidden 32" bash bench/cuda/sanitize.sh "$bin"
"$bin" bench epoch --device cuda --uniform --models gcn,commnet,ggnn,resgated,mpgcn
if python3 -c 'import torch_geometric' 2>/dev/null; then
	python3 bench/cuda/peer.py
fi

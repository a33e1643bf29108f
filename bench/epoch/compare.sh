#!/usr/bin/env bash
# compare.sh PYTHON [MODEL...]: CPU epochs of this engine and of PyTorch Geometric on one
# graph in one run, two threads each. PYTHON has torch and torch-geometric (bench/peer).
# PyG goes first and last, so that a drift of the machine shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:?usage: compare.sh PYTHON [MODEL...]}; shift
models=${*:-gcn resgated}
graph=$(mktemp -d)/graph
go build -o "$graph.bin" ./cmd/saga
"$graph.bin" data generate vertices=50000,edges=2000000,features=128,classes=16,seed=1 --format npy --out "$graph"
peer() { "$python" bench/peer/epoch.py --graph "$graph" --classes 16 --hidden 64 --model "$1" --threads 2 --epochs 10 --warmup 3 ${PATHS:+--paths $PATHS}; }
ours() { # model passes-left-out; the columns of all heads are 64
  local hidden=64; case $1 in gat*) hidden=8;; esac
  GOMAXPROCS=2 "$graph.bin" bench epoch --device cpu --data "$graph" --models "$1" --hidden $hidden --without "$2" --json 2>/dev/null
}
for m in $models; do
  echo "pyg    $(peer "$m")"
  echo "sagann $(ours "$m" none)"
  echo "sagann without invariant $(ours "$m" invariant)"
  echo "pyg    $(peer "$m")"
done

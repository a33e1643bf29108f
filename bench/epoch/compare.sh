#!/usr/bin/env bash
# compare.sh PYTHON [MODEL...]: CPU epochs of this engine and of PyTorch Geometric on one
# graph in one run, two threads each. PYTHON has torch and torch-geometric (bench/peer).
# PyG goes first and last, so that a drift of the machine shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:?usage: compare.sh PYTHON [MODEL...]}; shift
models=${*:-gcn resgated}
graph=$(mktemp -d)/graph
go build -o "$graph.bin" ./bench/epoch
"$graph.bin" -write "$graph" -spec vertices=50000,edges=2000000,features=128,classes=16,seed=1
peer() { "$python" bench/peer/epoch.py --graph "$graph" --classes 16 --hidden 64 --model "$1" --threads 2 --epochs 10 --warmup 3 ${PATHS:+--paths $PATHS}; }
for m in $models; do
  echo "pyg    $(peer "$m")"
  GOMAXPROCS=2 "$graph.bin" -data "$graph" -model "$m" | sed 's/^/sagann /'
  GOMAXPROCS=2 "$graph.bin" -data "$graph" -model "$m" -without invariant | sed 's/^/sagann without invariant /'
  echo "pyg    $(peer "$m")"
done

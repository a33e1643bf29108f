"""Compares sums over sampled neighbours as they are drawn with sums scaled to all edges: ten seeds of each.

    go build -o saga ./cmd/saga && python3 bench/sampled/norm.py ./saga DATA [SET ...]

DATA is the folder of the data sets. Accuracies are of the test vertices after the last epoch, evaluated over all edges.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

small = "--hidden 16 --dropout 0.5 --weight-decay 5e-4"
# set: data, flags of all, of the full graph, of sampling
sets = {
    "cora": ("cora", small, "--epochs 200", "--batch 64 --epochs 60"),
    "citeseer": ("citeseer", small, "--epochs 200", "--batch 64 --epochs 60"),
    "pubmed": ("pubmed", small, "--epochs 200", "--batch 64 --epochs 60"),
    "communities": ("synthetic:vertices=20000,edges=600000,features=16,classes=8", "--hidden 16", "--epochs 60", "--batch 1024 --epochs 10"),
}
seeds = 10


def accuracy(saga, data, flags):
    with tempfile.TemporaryDirectory() as folder:
        words = [saga, "train", "--data", data, "--json", "--out", os.path.join(folder, "run"), "--eval-every", "100000"] + flags.split()
        out = subprocess.run(words, capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        return json.loads(out.stdout.strip().splitlines()[-1])["test_accuracy"]


saga, folder = sys.argv[1:3]
for name in sys.argv[3:] or sets:
    data, both, full, sampled = sets[name]
    data = data if ":" in data else os.path.join(folder, data)
    for model in ("gcn", "gin"):
        runs = [("full graph", full)] + [(f"{k} {norm}", f"{sampled} --sample {k} --sample-norm {norm}") for k in ("10,10", "5,5", "2,2") for norm in ("none", "full")]
        for what, flags in runs:
            x = [accuracy(saga, data, f"{both} --model {model} {flags} --seed {s}") for s in range(1, seeds + 1)]
            mean = sum(x) / seeds
            error = math.sqrt(sum((v - mean) ** 2 for v in x) / (seeds - 1) / seeds)
            print(f"{name} {model} {what}: {mean:.4f} ± {error:.4f}", flush=True)

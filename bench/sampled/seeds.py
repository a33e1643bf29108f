"""Holds sampled training against full-graph training: ten seeds of both, mean and standard error.

    go build -o saga ./cmd/saga && python3 bench/sampled/seeds.py ./saga DATA [ROW ...]

DATA is the folder of the data sets. A row passes if the sampled mean is below that of the full graph by at most a point and
two standard errors of the difference.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

# row: data set, metric, flags of both, flags of the full graph, flags of sampling
rows = {
    "blogcatalog": ("blogcatalog", "f1", "--features identity --model sage --hidden 32 --dropout 0.2 --lr 0.03", "--epochs 200", "--epochs 20 --sample 25,10 --batch 512"),
    "ppi_node2vec": ("ppi_node2vec", "f1", "--features identity --model sage --hidden 32 --dropout 0.2 --lr 0.03", "--epochs 200", "--epochs 40 --sample 25,10 --batch 512"),
    "twitch_de": ("twitch_de", "auc", "--task link --model sage --hidden 64 --width 32 --features embedding:64", "--epochs 40", "--epochs 4 --sample 15,10 --batch 4096"),
    "email_eu_core": ("email_eu_core", "auc", "--task link --model sage --hidden 64 --width 32 --features embedding:64", "--epochs 100", "--epochs 20 --sample 15,10 --batch 1024"),
}
seeds = 10


def train(saga, data, flags):
    with tempfile.TemporaryDirectory() as folder:
        words = [saga, "train", "--data", data, "--json", "--out", os.path.join(folder, "run"), "--eval-every", "100000"] + flags.split()
        out = subprocess.run(words, capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        return json.loads(out.stdout.strip().splitlines()[-1])


def stats(x):
    mean = sum(x) / len(x)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in x) / max(1, len(x) - 1) / len(x))


saga, folder = sys.argv[1:3]
for name in sys.argv[3:] or rows:
    data, metric, both, full, sampled = rows[name]
    got = []
    for flags in (full, sampled):
        runs = [train(saga, os.path.join(folder, data), f"{both} {flags} --seed {s}") for s in range(1, seeds + 1)]
        got.append(stats([float(r["test_" + metric]) for r in runs]))
    (a, ea), (b, eb) = got
    least = a - 0.01 - 2 * math.hypot(ea, eb)
    print(f"{name} {metric}: full {a:.4f} ± {ea:.4f}, sampled {b:.4f} ± {eb:.4f}, at least {least:.4f}: {'passes' if b >= least else 'fails'}", flush=True)

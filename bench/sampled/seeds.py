"""Holds sampled training against full-graph training: ten seeds of both, mean and standard error.

    go build -o saga ./cmd/saga && python3 bench/sampled/seeds.py ./saga DATA [ROW ...]

DATA is the folder of the data sets. A row passes if the sampled mean is below that of the full graph by at most a point and
two standard errors of the difference. communities also prints the seconds of training, without evaluation, after which the test accuracy
is at most a point below the last one of the full graph.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

# row: data set, metric, flags of both, flags of the full graph, flags of sampling
small = "--model gcn --hidden 16 --dropout 0.5 --weight-decay 5e-4"
rows = {
    "cora": ("cora", "accuracy", small, "--epochs 200", "--epochs 60 --sample 10,10 --batch 64"),
    "citeseer": ("citeseer", "accuracy", small, "--epochs 200", "--epochs 60 --sample 10,10 --batch 64"),
    "cora_mvs": ("cora", "accuracy", small, "--epochs 200", "--epochs 60 --sampler mvs:10,10 --batch 64"),
    "citeseer_mvs": ("citeseer", "accuracy", small, "--epochs 200", "--epochs 60 --sampler mvs:10,10 --batch 64"),
    "communities": ("synthetic:vertices=500000,edges=2.5e6,features=32,classes=32", "accuracy", "--model sage --hidden 64",
                    "--epochs 60 --lr 0.03", "--epochs 4 --sample 10,10 --batch 2048"),
    "blogcatalog": ("blogcatalog", "f1", "--features identity --model sage --hidden 32 --dropout 0.2 --lr 0.03", "--epochs 200", "--epochs 20 --sample 25,10 --batch 512"),
    "ppi_node2vec": ("ppi_node2vec", "f1", "--features identity --model sage --hidden 32 --dropout 0.2 --lr 0.03", "--epochs 200", "--epochs 40 --sample 25,10 --batch 512"),
    "twitch_de": ("twitch_de", "auc", "--task link --model sage --hidden 64 --width 32 --features embedding:64", "--epochs 40", "--epochs 4 --sample 15,10 --batch 4096"),
    "email_eu_core": ("email_eu_core", "auc", "--task link --model sage --hidden 64 --width 32 --features embedding:64", "--epochs 100", "--epochs 20 --sample 15,10 --batch 1024"),
}
seeds = 10


def train(saga, data, flags, every):
    """The last line of a run, and of every epoch its seconds and test score."""
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        out = subprocess.run([saga, "train", "--data", data, "--json", "--out", run, "--eval-every", str(every)] + flags.split(), capture_output=True, text=True)
        if out.returncode:
            sys.exit(out.stderr)
        with open(os.path.join(run, "metrics.csv")) as f:
            epochs = [(float(r["seconds"]), float(r["test"] or "nan")) for r in csv.DictReader(f)]
        return json.loads(out.stdout.strip().splitlines()[-1]), epochs


def stats(x):
    mean = sum(x) / len(x)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in x) / max(1, len(x) - 1) / len(x))


def seconds_to(epochs, score):
    total = 0
    for seconds, test in epochs:
        total += seconds
        if test >= score:
            return total
    return math.inf


saga, folder = sys.argv[1:3]
for name in sys.argv[3:] or rows:
    data, metric, both, full, sampled = rows[name]
    timed = name == "communities"
    scores, times = ([], []), ([], [])
    for seed in range(1, seeds + 1):
        runs = [train(saga, data if ":" in data else os.path.join(folder, data), f"{both} {flags} --seed {seed}", 1 if timed else 100000) for flags in (full, sampled)]
        for i, (last, epochs) in enumerate(runs):
            scores[i].append(float(last["test_" + metric]))
            times[i].append(seconds_to(epochs, scores[0][-1] - 0.01) if timed else 0)
        if timed:
            print(f"{name} seed {seed}: full {scores[0][-1]:.4f}, {times[0][-1]:.1f} s, sampled {scores[1][-1]:.4f}, {times[1][-1]:.1f} s", flush=True)
    (a, ea), (b, eb) = stats(scores[0]), stats(scores[1])
    least = a - 0.01 - 2 * math.hypot(ea, eb)
    print(f"{name} {metric}: full {a:.4f} ± {ea:.4f}, sampled {b:.4f} ± {eb:.4f}, at least {least:.4f}: {'passes' if b >= least else 'fails'}", flush=True)
    if timed:
        print(f"{name}: {stats(times[0])[0]:.1f} s on the full graph, {stats(times[1])[0]:.1f} s sampled", flush=True)

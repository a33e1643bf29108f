"""Link prediction by time on a stream of its own making, by sagann and by PyTorch Geometric's SAGEConv over a temporal sampler in NumPy.

    python bench/pyg/stream.py SAGA OUT [SEEDS]

SAGA is the command, OUT a folder. Users pick items that are popular and near them, and users drift: what vertices begin with is where they were
at the start, so that the past must be read. Both sides: two layers, 64 and 32 columns, 10 and 5 edges before the time of a pair, uniform; a dot
product, Adam, rate 0.005, 15 epochs in batches of 512 pairs and as many without an edge; tested on the same pairs of the last 10 % of time, each
over all edges before it. LinkNeighborLoader with edge_label_time (less 1, so that a pair does not see itself) draws such edges, too, but needs
pyg-lib. Prints the areas under the ROC curve. Needs torch and torch_geometric.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv

USERS, ITEMS, EVENTS, DIM, EPOCHS, BATCH = 400, 300, 12000, 8, 15, 512


def stream(rng):
    """Edges in the order of time, the numbers of items behind those of users, and the features of vertices."""
    user, item, seen = rng.normal(size=(USERS, DIM)), rng.normal(size=(ITEMS, DIM)), np.ones(ITEMS)
    x, active, edges = np.concatenate((user, item)), rng.pareto(1.5, USERS) + 0.2, []
    for _ in range(EVENTS):
        u = rng.choice(USERS, p=active / active.sum())
        user[u] += 0.35 * rng.normal(size=DIM)
        p = seen**0.5 * np.exp(1.2 * (item @ user[u]) / np.linalg.norm(user[u]))
        i = rng.choice(ITEMS, p=p / p.sum())
        seen[i] += 1
        edges.append((u, USERS + i))
    return np.array(edges), x + rng.normal(size=x.shape)


class Past:
    """Draws in-edges before times: of both directions, in the order of time."""

    def __init__(self, edges, n):
        far, own, at = np.concatenate((edges[:, 1], edges[:, 0])), np.concatenate((edges[:, 0], edges[:, 1])), np.tile(np.arange(len(edges)), 2)
        order = np.lexsort((at, own))
        self.far, self.at, self.start = far[order], at[order], np.searchsorted(own[order], np.arange(n + 1))

    def draw(self, v, t, k, rng):
        """Rows (numbers into v) and far ends of at most k edges of each v before its t; all with k 0."""
        rows, far = [], []
        for n, (a, b) in enumerate(zip(v, t)):
            lo, hi = self.start[a], self.start[a + 1]
            m = np.searchsorted(self.at[lo:hi], b)
            some = np.arange(m) if k == 0 or m <= k else rng.choice(m, k, replace=False)
            rows.append(np.full(len(some), n))
            far.append(self.far[lo + some])
        return np.concatenate(rows), np.concatenate(far)


class Peer(torch.nn.Module):
    def __init__(self, past, x):
        super().__init__()
        self.past, self.x, self.one, self.two = past, torch.tensor(x, dtype=torch.float32), SAGEConv(DIM, 64), SAGEConv(64, 32)

    def rows(self, v, t, fan, rng):
        """The rows of vertices at times, each over a tree of its own."""
        (v, which), t = np.unique(np.stack((v, t)), axis=1, return_inverse=True), None
        v, t = v
        r1, f1 = self.past.draw(v, t, fan[0], rng)
        (w, s), back = np.unique(np.stack((np.concatenate((v, f1)), np.concatenate((t, t[r1])))), axis=1, return_inverse=True)
        r2, f2 = self.past.draw(w, s, fan[1], rng)
        h = F.relu(self.one((self.x[f2], self.x[w]), torch.tensor(np.stack((np.arange(len(f2)), r2)))))
        h = self.two((h[back[len(v) :]], h[back[: len(v)]]), torch.tensor(np.stack((np.arange(len(f1)), r1))))
        return h[which.reshape(-1)]

    def score(self, u, v, t, fan, rng):
        z = self.rows(np.concatenate((u, v)), np.concatenate((t, t)), fan, rng)
        return (z[: len(u)] * z[len(u) :]).sum(1)


def auc(score, label):
    order = np.argsort(score)
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    pos = label == 1
    return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def peer(edges, x, test, seed):
    torch.manual_seed(seed)
    rng, cut = np.random.default_rng(seed), int(0.8 * len(edges))
    m = Peer(Past(edges, len(x)), x)
    opt = torch.optim.Adam(m.parameters(), lr=0.005)
    for _ in range(EPOCHS):
        for part in np.array_split(rng.permutation(cut), -(-cut // BATCH)):
            u, v = np.concatenate((edges[part, 0], rng.integers(0, USERS, len(part)))), np.concatenate((edges[part, 1], rng.integers(USERS, len(x), len(part))))
            y = torch.cat((torch.ones(len(part)), torch.zeros(len(part))))
            opt.zero_grad()
            F.binary_cross_entropy_with_logits(m.score(u, v, np.tile(part, 2), (10, 5), rng), y).backward()
            opt.step()
    with torch.no_grad():
        parts = np.array_split(np.arange(len(test)), 8)
        return auc(np.concatenate([m.score(test[p, 0], test[p, 1], test[p, 2], (0, 0), rng).numpy() for p in parts]), test[:, 3])


def main():
    saga, out, seeds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5
    out.mkdir()
    edges, x = stream(np.random.default_rng(1))
    with open(out / "edges.csv", "w") as f:
        print("source,target,time", file=f)
        for t, (u, v) in enumerate(edges):
            print(f"{u},{v},{t}\n{v},{u},{t}", file=f)
    with open(out / "vertices.csv", "w") as f:
        print(",".join(["id"] + [f"x{k}" for k in range(DIM)]), file=f)
        for v, row in enumerate(x):
            print(",".join([str(v)] + [f"{y:.6f}" for y in row]), file=f)
    run = lambda *a: subprocess.run([saga, *map(str, a)], check=True, capture_output=True, text=True).stdout
    run("data", "convert", "--edges", out / "edges.csv", "--vertices", out / "vertices.csv", "--features", "x*", "--out", out / "g.saga")
    ours, theirs = [], []
    for seed in range(1, seeds + 1):
        run("train", "--data", out / "g.saga", "--task", "link", "--model", "sage", "--hidden", 64, "--width", 32, "--sample", "10,5", "--sample-time", "uniform", "--batch", BATCH,
            "--epochs", EPOCHS, "--eval-every", EPOCHS, "--lr", 0.005, "--seed", seed, "--split-seed", 1, "--out", out / f"run{seed}")
        ours.append(json.loads(run("evaluate", out / f"run{seed}", "--out", out / "test.csv", "--json").splitlines()[-1])["auc"])
        test = np.array([[int(float(r[k])) for k in ("source", "target", "time", "label")] for r in csv.DictReader(open(out / "test.csv"))])
        theirs.append(peer(edges, x, test, seed))
        print(f"seed {seed}: sagann {ours[-1]:.4f}, PyG {theirs[-1]:.4f}", flush=True)
    print(f"mean: sagann {np.mean(ours):.4f} ± {np.std(ours, ddof=1):.4f}, PyG {np.mean(theirs):.4f} ± {np.std(theirs, ddof=1):.4f}")


if __name__ == "__main__":
    main()

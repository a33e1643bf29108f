"""Links of graphs with weights: PyTorch Geometric beside saga train with both starts of learned rows, thirteen seeds.

    python bench/pyg/weighted_links.py SAGA OUT [KIND ...]

Kinds are generated graphs: papers (people who wrote papers together, as often as the weight says, in groups), blocks (edges mostly
within blocks, with weights that are larger there) and flights (places in the plane; the weight falls with the distance). Both sides:
PyG's RandomLinkSplit (a tenth for validation, a fifth for test), learned rows of 64 columns, two GCN layers 64 and 64 with weights
normalised, products of rows as scores, Adam, rate 0.01, 100 epochs, AUC of the test pairs after the last. Prints mean AUCs, and the
differences to PyG with their standard errors. Needs torch and torch_geometric.
"""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import negative_sampling
from sklearn.metrics import roc_auc_score

SEEDS, EPOCHS, WIDTH = range(1, 14), 100, 64


def papers(r):
    v, groups, weight = 600, 20, {}
    for _ in range(1500):
        first = r.integers(v)
        pool = np.flatnonzero(np.arange(v) % groups == first % groups) if r.random() < 0.85 else np.arange(v)
        who = sorted({int(first), *map(int, r.choice(pool, r.integers(1, 4)))})
        for i, a in enumerate(who):
            for b in who[i + 1:]:
                weight[a, b] = weight.get((a, b), 0) + 1
    return v, weight


def blocks(r):
    v, weight = 800, {}
    of = r.integers(0, 16, v)
    while len(weight) < 4000:
        a, b = map(int, r.integers(0, v, 2))
        same = of[a] == of[b]
        if a < b and r.random() < (0.9 if same else 0.03):
            weight[a, b] = float(r.gamma(4 if same else 1, 1))
    return v, weight


def flights(r):
    v, weight = 500, {}
    at = r.random((v, 2))
    while len(weight) < 3000:
        a, b = map(int, r.integers(0, v, 2))
        far = float(np.hypot(*(at[a] - at[b])))
        if a < b and r.random() < np.exp(-far * 12):
            weight[a, b] = 1 / (0.05 + far)
    return v, weight


def peer(train, test, v, seed):
    torch.manual_seed(seed)
    rows, one, two = torch.nn.Embedding(v, WIDTH), GCNConv(WIDTH, WIDTH), GCNConv(WIDTH, WIDTH)
    opt = torch.optim.Adam([*rows.parameters(), *one.parameters(), *two.parameters()], lr=0.01)
    pos = train.edge_label_index

    def embed():
        h = one(rows.weight, train.edge_index, train.edge_weight).relu()
        return two(h, train.edge_index, train.edge_weight)

    score = lambda h, pairs: (h[pairs[0]] * h[pairs[1]]).sum(-1)
    for _ in range(EPOCHS):
        opt.zero_grad()
        h, neg = embed(), negative_sampling(train.edge_index, v, pos.shape[1])
        out = torch.cat([score(h, pos), score(h, neg)])
        y = torch.cat([torch.ones(pos.shape[1]), torch.zeros(neg.shape[1])])
        torch.nn.functional.binary_cross_entropy_with_logits(out, y).backward()
        opt.step()
    with torch.no_grad():
        return roc_auc_score(test.edge_label.numpy(), score(embed(), test.edge_label_index).numpy())


def ours(saga, folder, seed, init):
    run = folder / init
    shutil.rmtree(run, ignore_errors=True)
    subprocess.run([saga, "train", "--data", folder / "split.pt", "--task", "link", "--model", "gcn", "--normalize", "sym-weight", "--features", f"embedding:{WIDTH}",
                    "--embedding-init", init, "--hidden", str(WIDTH), "--width", str(WIDTH), "--epochs", str(EPOCHS), "--eval-every", str(EPOCHS), "--lr", "0.01", "--seed", str(seed), "--out", run], check=True, capture_output=True)
    return float(list(csv.DictReader((run / "metrics.csv").open()))[-1]["test"])


def main():
    saga, out, *kinds = sys.argv[1:]
    for kind in kinds or ["papers", "blocks", "flights"]:
        auc = {"PyG": [], "unit": [], "normal": []}
        for seed in SEEDS:
            v, weight = globals()[kind](np.random.default_rng(seed))
            ends, w = np.array(list(weight)).T, np.array(list(weight.values()), np.float32)
            data = Data(edge_index=torch.tensor(np.hstack([ends, ends[::-1]])), edge_weight=torch.tensor(np.hstack([w, w])), num_nodes=v)
            torch.manual_seed(seed)
            parts = RandomLinkSplit(num_val=0.1, num_test=0.2, is_undirected=True, add_negative_train_samples=False)(data)
            folder = Path(out) / f"{kind}-{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            torch.save(tuple(parts), folder / "split.pt")
            auc["PyG"].append(peer(parts[0], parts[2], v, seed))
            for init in ("unit", "normal"):
                auc[init].append(ours(saga, folder, seed, init))
        line = [f"{kind:8}"]
        for name, x in auc.items():
            d = np.array(x) - auc["PyG"]
            line.append(f"{name} {np.mean(x):.4f}" + (f" ({d.mean():+.4f} ± {d.std(ddof=1) / len(d) ** 0.5:.4f})" if name != "PyG" else ""))
        print("  ".join(line), flush=True)


main()

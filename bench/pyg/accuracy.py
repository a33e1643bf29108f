"""Trains layers of PyTorch Geometric and sagann's, ten seeds each, and prints test accuracies as a table.

    python bench/pyg/accuracy.py SAGA CORA OUT [MODEL ...]

SAGA is the command, CORA a folder of .npy files of Cora, OUT a folder for the data. The first models train on Cora, whose
features are reduced to 64 columns by a singular value decomposition, so that edges with products of all columns take seconds.
Those that read numbers of edges train on a graph whose classes are sums over in-edges of features times what the edge says.
Both sides: two layers, hidden 16, ReLU, dropout 0.5 on the input of every layer (0 for numbers of edges), Adam, rate 0.01,
weight decay 5e-4 on all parameters, 100 epochs, accuracy after the last. Needs torch and torch_geometric.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch.nn import Linear, ModuleList, ReLU, Sequential
from torch_geometric import nn as pyg
from torch_geometric.utils import degree

HIDDEN, EPOCHS, SEEDS = 16, 100, range(1, 11)


def cora(folder):
    part = lambda name: np.load(Path(folder) / f"{name}.npy")
    x = sp.csr_matrix((part("features_csr_data"), part("features_csr_indices"), part("features_csr_indptr"))).toarray()
    x = x / np.maximum(x.sum(1, keepdims=True), 1)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    e, y = part("edges"), part("labels")
    e = e if e.shape[0] == 2 else e.T
    return {"edge_index": e.astype(np.int64), "x": (u[:, :64] * s[:64] * 10).astype(np.float32), "y": y.astype(np.int64), **{k: part(k) for k in ("train", "val", "test")}}


def edged():
    r, v, e, classes = np.random.default_rng(1), 2000, 16000, 4
    src, dst = r.integers(0, v, e), r.integers(0, v, e)
    src, dst = src[src != dst], dst[src != dst]
    x = r.normal(size=(v, 8)).astype(np.float32)
    kind = r.integers(0, 2, len(src))
    data = (np.eye(2)[kind] + 0.1 * r.normal(size=(len(src), 2))).astype(np.float32)
    said = np.where(kind[:, None] == 0, x[src, :4], x[src, 4:])
    sums = np.zeros((v, 4))
    np.add.at(sums, dst, said)
    order = r.permutation(v)
    return {"edge_index": np.stack([src, dst]), "x": x, "y": sums.argmax(1), "edge_attr": data, "train": order[:1000], "val": order[1000:1300], "test": order[1300:]}


def mlp(i, o):
    return Sequential(Linear(i, HIDDEN), ReLU(), Linear(HIDDEN, o))


class Net(torch.nn.Module):
    """Two layers, between linear ones where lins are given; extra are arguments behind the edges."""

    def __init__(self, convs, drop, lins=None, act=F.relu, use=None, again=False, first=None, heads=False):
        super().__init__()
        self.convs, self.drop, self.act, self.use, self.again = ModuleList(convs), drop, act, use, again
        self.lins, self.first, self.heads = ModuleList(lins) if lins else None, first, heads

    def forward(self, g):
        drop = lambda x: F.dropout(x, self.drop, self.training)
        more = [g[self.use]] if self.use else []
        x = g["x"]
        if self.lins:
            x = self.lins[0](drop(x))
            x = first = self.first(x) if self.first else x
        for k, conv in enumerate(self.convs):
            args = [drop(x)] + ([first] if self.again else []) + [g["edge_index"]]
            x = conv(*args, **{"edge_attr": g["edge_attr"]}) if self.use and self.heads else conv(*args, *more)
            if self.lins or k < len(self.convs) - 1:
                x = self.act(x)
        return self.lins[1](drop(x)) if self.lins else x


class Light(torch.nn.Module):
    def __init__(self, i, o, drop):
        super().__init__()
        self.lin, self.conv, self.drop = Linear(i, o), pyg.LGConv(), drop

    def forward(self, g):
        a = self.lin(F.dropout(g["x"], self.drop, self.training))
        b = self.conv(a, g["edge_index"])
        return (a + b + self.conv(b, g["edge_index"])) / 3


def models(i, c, deg, drop, d):
    h = HIDDEN
    two = lambda f, **k: lambda: Net([f(i, h), f(h, c)], drop, **k)
    lins = lambda: [Linear(i, h), Linear(h, c)]
    pna = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification", "attenuation"], deg=deg)
    heads = lambda f, **k: lambda: Net([f(i, h, heads=4, **k), f(4 * h, c, heads=1, concat=False, **k)], drop, act=F.elu, heads=True, use="edge_attr" if k else None)
    if d:
        edge = dict(use="edge_attr")
        return {
            "gine": two(lambda a, b: pyg.GINEConv(mlp(a, b), train_eps=True, edge_dim=d), **edge),
            "nnconv": two(lambda a, b: pyg.NNConv(a, b, mlp(d, a * b)), **edge),
            "gat": heads(pyg.GATConv, edge_dim=d), "gatv2": heads(pyg.GATv2Conv, edge_dim=d), "transformer": heads(pyg.TransformerConv, edge_dim=d),
            "gen": two(lambda a, b: pyg.GENConv(a, b, edge_dim=d), **edge),
            "cg": lambda: Net([pyg.CGConv(h, d), pyg.CGConv(h, d)], drop, lins=lins(), **edge),
        }
    return {
        "transformer": heads(pyg.TransformerConv),
        "pna": two(lambda a, b: pyg.PNAConv(a, b, **pna)),
        "gcn2": lambda: Net([pyg.GCN2Conv(h, 0.1, 0.5, k) for k in (1, 2)], drop, lins=lins(), again=True, first=F.relu),
        "graphconv": two(pyg.GraphConv), "edgeconv": two(lambda a, b: pyg.EdgeConv(mlp(2 * a, b))),
        "tag": two(lambda a, b: pyg.TAGConv(a, b, K=2)), "cheb": two(lambda a, b: pyg.ChebConv(a, b, K=2)),
        "gen": two(pyg.GENConv), "film": two(pyg.FiLMConv), "lg": lambda: Light(i, c, drop),
    }


def theirs(make, g):
    out = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        m = make()
        opt = torch.optim.Adam(m.parameters(), lr=0.01, weight_decay=5e-4)
        for _ in range(EPOCHS):
            m.train()
            opt.zero_grad()
            F.cross_entropy(m(g)[g["train"]], g["y"][g["train"]]).backward()
            opt.step()
        with torch.no_grad():
            out.append((m.eval()(g).argmax(1) == g["y"])[g["test"]].double().mean().item() * 100)
    return out


def ours(saga, name, data, more, out):
    found = []
    for seed in SEEDS:
        args = [saga, "train", "--data", data, "--model", name, "--hidden", str(HIDDEN), "--heads", "4", "--lr", "0.01", "--weight-decay", "5e-4", "--decay", "all",
                "--epochs", str(EPOCHS), "--eval-every", str(EPOCHS), "--seed", str(seed), "--row-normalize", "off", "--json", "--out", str(out / "run"), *more]
        subprocess.run(["rm", "-rf", str(out / "run")], check=True)
        text = subprocess.run(args, capture_output=True, text=True, check=True).stdout
        found.append(json.loads(text.strip().split("\n")[-1])["test_accuracy"] * 100)
    return found


def main(saga, folder, out, only):
    torch.set_num_threads(1)
    out.mkdir(parents=True, exist_ok=True)
    print("| data | model | sagann | PyG | difference / its standard error |\n|---|---|---|---|---|", flush=True)
    for data, d, drop in ((cora(folder), 0, 0.5), (edged(), 2, 0.0)):
        v = len(data["x"])
        path = str(out / ("edges.npz" if d else "cora.npz"))
        masks = {f"{k}_mask": np.isin(np.arange(v), data[k]) for k in ("train", "val", "test")}
        np.savez(path, **{k: x for k, x in data.items() if k not in ("train", "val", "test")}, **masks)
        g = {k: torch.tensor(x) for k, x in data.items()}
        deg = torch.bincount(degree(g["edge_index"][1], v, dtype=torch.long).clamp(min=1))
        for name, make in models(data["x"].shape[1], int(data["y"].max()) + 1, deg, drop, d).items():
            if only and name not in only:
                continue
            more = ["--dropout", str(drop)] + (["--edge-data", "on"] if d and name != "nnconv" else [])
            a, b = np.array(ours(saga, name, path, more, out)), np.array(theirs(make, g))
            z = (a.mean() - b.mean()) / max(1e-9, np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
            print(f"| {'numbers of edges' if d else 'cora'} | {name} | {a.mean():.2f} ± {a.std(ddof=1):.2f} | {b.mean():.2f} ± {b.std(ddof=1):.2f} | {z:+.1f} |", flush=True)


main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:])

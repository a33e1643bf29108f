"""Trains models over several vertex types by PyTorch Geometric and by sagann, and prints test accuracies of ten seeds as a table.

    python bench/pyg/kinds.py SAGA HECO OUT [SET/LABELS/MODEL ...]

SAGA is the command, HECO a folder with HeCo's acm and aminer (others of its layout, such as dblp, are named by SET), OUT a folder for graphs, runs and what each seed gave: a line there is not
computed again. Both sides: two layers, hidden 64 (gat: 4 heads of 16, one in the last layer; hgt: 4 heads, between two linear layers),
dropout 0.5 on the input of every layer, Adam, rate 0.005, weight decay 5e-4 on all parameters, at most 100 epochs; the test split at the
epoch of the lowest validation loss. han is one layer over metapaths alone (pap and psp; in dblp apa, apcpa and aptpa), and a linear one. Vertices without features have one-hot rows on both sides.
lastfm/rates/sage tells by products of last rows whom users rate, with the split that is given and as many random pairs, and prints AUCs.
DEVICE=cuda runs PyTorch there. Needs torch and torch_geometric.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch.nn import Linear, ModuleDict, ModuleList
from torch_geometric import nn as pyg

sys.path.insert(0, str(Path(__file__).parent.parent / "formats"))
from public import heco, lastfm

EPOCHS, HIDDEN, HEADS, SEEDS = 100, 64, 4, range(int(os.environ.get("SEEDS", "10")))
TUNED = {"hgt": json.loads(os.environ.get("HGT", "{}"))}
DEVICE = os.environ.get("DEVICE", "cpu")
LINKS = "user", "rates", "artist"


def coo(m):
    m = m.tocoo()
    return torch.sparse_coo_tensor(torch.tensor(np.stack((m.row, m.col))).long(), torch.tensor(m.data), m.shape).coalesce().to(DEVICE)


class Projected(torch.nn.Module):
    """A layer whose linear maps are applied before its sums, so that sparse features stay sparse; the numbers are the same."""

    def __init__(self, conv, src, dst):
        super().__init__()
        self.conv, self.src, self.dst = conv, getattr(conv, src), getattr(conv, dst) if hasattr(conv, dst) else None
        setattr(conv, src, Shift(self.src.bias))
        if self.dst is not None:
            setattr(conv, dst, Shift(None))

    def forward(self, x, edge_index):
        far, own = x if isinstance(x, tuple) else (x, x)
        own = own @ self.dst.weight.t() if self.dst is not None else torch.empty(own.shape[0], 0)
        return self.conv((far @ self.src.weight.t(), own), edge_index)


class Shift(torch.nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.bias = bias

    def forward(self, x):
        return x if self.bias is None else x + self.bias


def linear(lin, x):
    return x @ lin.weight.t() + lin.bias


def target(z):
    """The type that has labels, and how many vertices it has."""
    t = next(n for n in z if n.endswith(".y"))[:-2]
    return t, len(z[f"{t}.y"])


def metapaths(z):
    """The pairs of the target's vertices that have a neighbour in common; where they have neighbours of one type only, as authors
    have papers, also those whose neighbours have one."""
    t, _ = target(z)
    step, size = {}, {n[:-len(".num_nodes")]: int(z[n]) for n in z if n.endswith(".num_nodes")}
    for n in z:
        if n.endswith(".edge_index"):
            a, r, b = n.split(".")[0].split("__")
            step[a, b] = sp.csr_matrix((np.ones(z[n].shape[1]), z[n]), (size[a], size[b]))
            step[b, a] = step[a, b].T.tocsr()
    near = sorted(b for a, b in step if a == t)
    paths = {t + b + t: step[t, b] for b in near}
    if len(near) == 1:
        paths |= {t + near[0] + c + near[0] + t: step[t, near[0]] @ step[near[0], c] for a, c in sorted(step) if a == near[0] and c != t}
    return {name: np.stack((m @ m.T).nonzero()) for name, m in paths.items()}


def graph(folder, labels, model):
    z = lastfm(folder) if labels == "rates" else heco(folder, labels)
    e = {}
    for n in z:
        if n.endswith(".edge_index"):
            s, r, d = n.split(".")[0].split("__")
            e[s, r, d] = torch.tensor(z[n]).to(DEVICE)
            if s != d:
                e[d, "rev_" + r, s] = e[s, r, d].flip(0)
    types = sorted({n.split(".")[0] for n in z if "__" not in n} | {t for s, _, d in e for t in (s, d)})
    most = lambda t: 1 + max(int(i[k].max()) for (s, _, d), i in e.items() for k, end in enumerate((s, d)) if end == t)
    size = {t: int(z[f"{t}.num_nodes"]) if f"{t}.num_nodes" in z else most(t) for t in types}
    x = {t: coo(sp.csr_matrix(tuple(z[f"{t}.features_csr_{k}"] for k in ("data", "indices", "indptr")), z[f"{t}.features_csr_shape"])) for t in types if f"{t}.features_csr_data" in z}
    x = {t: x[t] if t in x else coo(sp.eye(size[t], dtype=np.float32)) for t in types}
    if labels == "rates":
        return size, x, e, None, {k: torch.tensor(z[f"user__rates__artist.edge_{k}"]).to(DEVICE) for k in ("train", "val", "test")}
    t, n = target(z)
    if model == "han":
        e = {(t, name, t): torch.tensor(i).long().to(DEVICE) for name, i in metapaths(z).items()}
        size, x = {t: n}, {t: x[t]}
    masks = {k: torch.tensor(z[f"{t}.{k}"]).long().to(DEVICE) for k in ("train", "val", "test")}
    return size, x, e, torch.tensor(z[f"{t}.y"]).long().to(DEVICE), masks, t


class Net(torch.nn.Module):
    def __init__(self, model, size, x, e, classes, drop, target=None):
        super().__init__()
        self.model, self.x, self.e, self.drop, self.target = model, x, e, drop, target
        outs = [HIDDEN, classes]
        meta = (list(size), list(e))
        width = {t: x[t].shape[1] for t in size}
        self.ends = None
        if model in ("sage", "rgcn") and DEVICE == "cpu":  # their sums are faster over matrices
            self.e = {k: torch.sparse_coo_tensor(i.flip(0), torch.ones(i.shape[1]), (size[k[2]], size[k[0]])).to_sparse_csr() for k, i in e.items()}
        wide = lambda i, k: (HIDDEN, HIDDEN) if i else (width[k[0]], width[k[2]])
        layers = lambda f: ModuleList([pyg.HeteroConv({k: f(i, o, wide(i, k)) for k in e}) for i, o in enumerate(outs)])
        if model == "hgt":
            self.ends = ModuleList([ModuleDict({t: Linear(width[t], HIDDEN) for t in x}), Linear(HIDDEN, classes)])
            self.convs = ModuleList([pyg.HGTConv(HIDDEN, HIDDEN, meta, heads=HEADS) for _ in range(2)])
        elif model == "han":
            self.convs = ModuleList([pyg.HANConv(width, HIDDEN, meta, heads=HEADS, dropout=0), Linear(HIDDEN, classes)])
            self.convs[0].proj[target], self.first = Shift(self.convs[0].proj[target].bias), self.convs[0].proj[target]
        elif model == "gat":
            self.convs = layers(lambda i, o, w: Projected(pyg.GATConv(w, o if i else o // HEADS, heads=1 if i else HEADS, concat=not i, add_self_loops=False), "lin_src", "lin_dst"))
        else:
            own = model == "sage"
            self.convs = layers(lambda i, o, w: Projected(pyg.SAGEConv(w, o, root_weight=own, bias=own), "lin_l", "lin_r"))
            if not own:
                self.roots = ModuleList([ModuleDict({t: Linear(HIDDEN if i else width[t], o) for t in size}) for i, o in enumerate(outs)])

    def forward(self):
        one = lambda v: F.dropout(v, self.drop, self.training)
        sparse = lambda v: torch.sparse_coo_tensor(v.indices(), one(v.values()), v.shape, is_coalesced=True)
        drop = lambda h: {t: sparse(v) if v.is_sparse else one(v) for t, v in h.items()}
        h = self.x
        if self.model == "han":
            h = self.convs[0]({self.target: drop(h)[self.target] @ self.first.weight.t()}, self.e)[self.target]
            return self.convs[1](one(h))
        if self.ends:
            h = {t: F.relu(linear(self.ends[0][t], v)) for t, v in drop(h).items()}
            for conv in self.convs:
                h = conv(drop(h), self.e)
            return self.ends[1](drop(h)[self.target])
        for i, conv in enumerate(self.convs):
            h = drop(h)
            y = conv(h, self.e)
            if self.model == "rgcn":
                y = {t: v + linear(self.roots[i][t], h[t]) for t, v in y.items()}
            h = y if i else {t: F.elu(v) if self.model == "gat" else F.relu(v) for t, v in y.items()}
        return h.get(self.target, h)


def links(folder, labels, model, seed, lr, drop, decay):
    size, x, e, _, masks = graph(folder, labels, model)
    pairs, (n, m) = e[LINKS], (size["user"], size["artist"])
    e[LINKS] = pairs[:, masks["train"]]
    e["artist", "rev_rates", "user"] = e[LINKS].flip(0)
    known = torch.unique(pairs[0] * m + pairs[1])

    def absent(k):
        out = torch.empty(0, dtype=torch.long, device=DEVICE)
        while len(out) < k:
            new = torch.randint(n * m, (k,), device=DEVICE)
            out = torch.cat((out, new[~torch.isin(new, known)]))
        return torch.stack((out[:k] // m, out[:k] % m))

    net = Net(model, size, x, e, HIDDEN, drop).to(DEVICE)
    net.eval()
    with torch.no_grad():
        net()
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=decay)
    part = {k: pairs[:, masks[k]] for k in masks}
    held = {k: torch.cat((part[k], absent(part[k].shape[1])), 1) for k in ("val", "test")}
    score = lambda h, at: (h["user"][at[0]] * h["artist"][at[1]]).sum(1)
    right = lambda at: torch.cat((torch.ones(at.shape[1] // 2), torch.zeros(at.shape[1] // 2))).to(DEVICE)
    best = (1e9, 0, 0)
    for _ in range(EPOCHS):
        net.train()
        opt.zero_grad()
        at = torch.cat((part["train"], absent(part["train"].shape[1])), 1)
        F.binary_cross_entropy_with_logits(score(net(), at), right(at)).backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            h = net()
        auc = lambda k: roc_auc_score(right(held[k]).cpu(), score(h, held[k]).cpu())
        loss = F.binary_cross_entropy_with_logits(score(h, held["val"]), right(held["val"])).item()
        if loss < best[0]:
            best = loss, auc("val"), auc("test")
    return best[1:]


def theirs(folder, labels, model, seed, lr=0.005, drop=0.5, decay=5e-4):
    torch.manual_seed(seed)
    if labels == "rates":
        return links(folder, labels, model, seed, lr, drop, decay)
    size, x, e, y, masks, at = graph(folder, labels, model)
    m = Net(model, size, x, e, int(y.max()) + 1, drop, at).to(DEVICE)
    m.eval()
    with torch.no_grad():
        m()
    opt = torch.optim.Adam(m.parameters(), lr=lr, weight_decay=decay)
    best = (1e9, 0, 0)
    for _ in range(EPOCHS):
        m.train()
        opt.zero_grad()
        F.cross_entropy(m()[masks["train"]], y[masks["train"]]).backward()
        opt.step()
        m.eval()
        with torch.no_grad():
            z = m()
        right = lambda k: (z[masks[k]].argmax(1) == y[masks[k]]).float().mean().item()
        loss = F.cross_entropy(z[masks["val"]], y[masks["val"]]).item()
        best = min(best, (loss, right("val"), right("test")))
    return best[1:]


def ours(saga, out, name, labels, model, seed, lr=0.005, drop=0.5, decay=5e-4, more=()):
    store = out / f"{name}{labels}{model if model == 'han' else ''}.saga"
    if not store.exists():
        z = lastfm(folders / name) if labels == "rates" else heco(folders / name, labels)
        if model == "han":
            t, _ = target(z)
            z = {k: v for k, v in z.items() if k.startswith(f"{t}.")} | {f"{t}__{k}__{t}.edge_index": v for k, v in metapaths(z).items()}
        np.savez(out / "graph.npz", **z)
        subprocess.run([saga, "data", "convert", str(out / "graph.npz"), "--undirected", "--out", str(store)], check=True, stdout=subprocess.DEVNULL)
    flags = ["--heads", "4", "--hidden", "16"] if model in ("gat", "hgt", "han") else []
    flags += ["--layers", "1"] if model == "han" else []
    flags += ["--task", "link", "--relation", "rates", "--head", "dot"] if labels == "rates" else []
    shutil.rmtree(out / "run", ignore_errors=True)
    text = subprocess.run([saga, "train", "--data", str(store), "--model", model, "--hidden", str(HIDDEN), *flags, "--lr", str(lr), "--dropout", str(drop), "--weight-decay", str(decay), "--decay", "all",
                           "--epochs", str(EPOCHS), "--seed", str(seed), "--out", str(out / "run"), *more], check=True, capture_output=True, text=True).stdout
    row = next(line for line in text.splitlines() if line.startswith("best"))
    return tuple(float(x) for x in re.search(r"validation ([\d.]+) +test ([\d.]+)", row).groups())


def main():
    saga, out = sys.argv[1], Path(sys.argv[3])
    out.mkdir(exist_ok=True)
    rows = sys.argv[4:] or [f"{d}/{n}/{m}" for d in ("acm", "aminer") for n in ("20", "60") for m in ("sage", "rgcn", "gat", "hgt")] + ["acm/20/han", "acm/60/han"]
    for row in rows:
        name, labels, model = row.split("/")
        found = {"ours": [], "theirs": []}
        for side, f in (("theirs", lambda s: theirs(folders / name, labels, model, s, **TUNED.get(model, {}))), ("ours", lambda s: ours(saga, out, name, labels, model, s, **TUNED.get(model, {})))):
            if side not in os.environ.get("SIDES", "ours theirs"):
                continue
            for seed in SEEDS:
                log = out / f"{side}-{name}-{labels}-{model}-{seed}{os.environ.get('HGT', '') if model == 'hgt' else ''}.json"
                if not log.exists():
                    log.write_text(json.dumps(f(seed)))
                found[side].append(json.loads(log.read_text()))
        text = []
        for side in found:
            a = np.array(found[side])
            text.append(f"validation {a[:, 0].mean():.4f} test {a[:, 1].mean():.4f} ± {a[:, 1].std(ddof=1):.4f}" if len(a) else "-")
        print(row, *text, sep=" | ", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    folders = Path(sys.argv[2])
    main()

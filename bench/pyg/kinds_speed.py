"""Times training over several vertex types in PyTorch Geometric, on a graph of ogbn-mag's types and relations, for comparison with saga.

    python bench/pyg/kinds_speed.py make FILE.npz [PART]     a PART-th of ogbn-mag's vertices and edges (20), edges drawn at random
    python bench/pyg/kinds_speed.py time FILE.npz MODEL [DEVICE [THREADS [EPOCHS]]]

The same work by saga, from the same file, with GOMAXPROCS=THREADS on a CPU:

    saga data convert FILE.npz --undirected --out g.saga
    saga train --data g.saga --model sage --hidden 64 --epochs N --eval-every N --without invariant
    ... --model gat --heads 4 --hidden 16,   --model hgt --heads 4 --hidden 16

Two layers, 128→64→64 columns, all types with features, each relation of two types with its reverse; hgt stands between two linear layers.
Loss over labelled papers, backward and Adam; no dropout, no evaluation. PyG's last layer computes relations into papers alone, but for
HGTConv, which computes all. sage is timed by edge lists, by PyG over CSR matrices and by one product with a CSR matrix a relation whose
transpose is ready; the fastest counts. Prints seconds an epoch (median), processor seconds, and the most memory beyond the data.
Needs torch and torch_geometric.
"""

import resource
import statistics
import sys
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn import Linear, ModuleDict, ModuleList
from torch_geometric import nn as pyg

SIZES = {"author": 1134649, "field_of_study": 59965, "institution": 8740, "paper": 736389}
RELATIONS = {("author", "affiliated_with", "institution"): 1043998, ("author", "writes", "paper"): 7145660,
             ("paper", "cites", "paper"): 5416271, ("paper", "has_topic", "field_of_study"): 7505078}
COLUMNS, HIDDEN, CLASSES, HEADS = 128, 64, 64, 4


def make(path, part):
    rng = np.random.default_rng(1)
    size = {t: max(1, n // part) for t, n in SIZES.items()}
    z = {f"{t}.x": rng.standard_normal((n, COLUMNS), dtype=np.float32) for t, n in size.items()}
    for (s, r, d), n in RELATIONS.items():
        z[f"{s}__{r}__{d}.edge_index"] = np.stack((rng.integers(size[s], size=n // part), rng.integers(size[d], size=n // part))).astype(np.int32)
    n = size["paper"]
    z["paper.y"] = rng.integers(CLASSES, size=n)
    z["paper.y"][:CLASSES] = np.arange(CLASSES)
    fold = np.arange(n) * 10 // n
    z["paper.train_mask"], z["paper.val_mask"], z["paper.test_mask"] = fold < 6, (fold >= 6) & (fold < 8), fold >= 8
    np.savez(path, **z)


def load(path, device):
    z = np.load(path)
    x = {t: torch.tensor(z[f"{t}.x"]).to(device) for t in SIZES}
    e = {}
    for s, r, d in RELATIONS:
        i = z[f"{s}__{r}__{d}.edge_index"].astype(np.int64)
        if s == d:
            n = len(x[s])
            i = np.unique(np.concatenate((i[0] * n + i[1], i[1] * n + i[0])))
            e[s, r, d] = torch.tensor(np.stack((i // n, i % n))).to(device)
        else:
            e[s, r, d] = torch.tensor(i).to(device)
            e[d, "rev_" + r, s] = torch.tensor(i[::-1].copy()).to(device)
    return x, e, torch.tensor(z["paper.y"]).to(device), torch.tensor(np.flatnonzero(z["paper.train_mask"])).to(device)


def csr(i, n, m):
    return torch.sparse_coo_tensor(i, torch.ones(i.shape[1], device=i.device), (n, m)).to_sparse_csr()


class Product(torch.autograd.Function):
    """a @ x, whose gradient is b @ g: b is the transpose of a."""

    @staticmethod
    def forward(ctx, x, a, b):
        ctx.b = b
        return a @ x

    @staticmethod
    def backward(ctx, g):
        return ctx.b @ g, None, None


class Products(torch.nn.Module):
    """GraphSAGE with a mean in each relation and the relations' sum, by one product with a CSR matrix each."""

    def __init__(self, e, out, into):
        super().__init__()
        self.e, self.into = e, into
        self.far = ModuleDict({"__".join(k): Linear(c, out) for k in e if k[2] in into for c in [into[k[2]]]})
        self.own = ModuleDict({"__".join(k): Linear(c, out, bias=False) for k in e if k[2] in into for c in [into[k[2]]]})

    def forward(self, h, _):
        y = {}
        for k, (a, b, mean) in self.e.items():
            if k[2] in self.into:
                far, own = self.far["__".join(k)], self.own["__".join(k)]
                v = Product.apply(h[k[0]] @ far.weight.t(), a, b) * mean + far.bias + own(h[k[2]])
                y[k[2]] = y[k[2]] + v if k[2] in y else v
        return y


class Net(torch.nn.Module):
    def __init__(self, model, x, e):
        super().__init__()
        size, outs = {t: len(v) for t, v in x.items()}, (HIDDEN, CLASSES)
        self.model, self.e, self.ends = model, e, None
        part = [e, {k: v for k, v in e.items() if k[2] == "paper"}]
        if model == "sage-csr":
            self.e = {k: csr(i.flip(0), size[k[2]], size[k[0]]) for k, i in e.items()}
        if model == "hgt":
            self.ends = ModuleList([ModuleDict({t: Linear(COLUMNS, HIDDEN) for t in x}), Linear(HIDDEN, CLASSES)])
            self.convs = ModuleList([pyg.HGTConv(HIDDEN, HIDDEN, (list(x), list(e)), heads=HEADS) for _ in outs])
        elif model == "sage-product":
            self.e = {}
            for k, i in e.items():
                degree = torch.bincount(i[1], minlength=size[k[2]]).clamp(min=1)
                self.e[k] = (csr(i.flip(0), size[k[2]], size[k[0]]), csr(i, size[k[0]], size[k[2]]), (1 / degree)[:, None])
            self.convs = ModuleList([Products(self.e, HIDDEN, {t: COLUMNS for t in x}), Products(self.e, CLASSES, {"paper": HIDDEN})])
        elif model == "gat":
            wide = lambda c, k: c if k[0] == k[2] else (c, c)  # within a type one matrix, as saga has it
            one = lambda i, k: pyg.GATConv(wide(HIDDEN if i else COLUMNS, k), CLASSES if i else HIDDEN // HEADS, heads=1 if i else HEADS, add_self_loops=False)
            self.convs = ModuleList([pyg.HeteroConv({k: one(i, k) for k in part[i]}) for i in range(2)])
        else:
            one = lambda i: pyg.SAGEConv((HIDDEN, HIDDEN) if i else (COLUMNS, COLUMNS), CLASSES if i else HIDDEN)
            self.convs = ModuleList([pyg.HeteroConv({k: one(i) for k in part[i]}) for i in range(2)])

    def forward(self, h):
        if self.ends:
            h = {t: F.relu(self.ends[0][t](v)) for t, v in h.items()}
            for conv in self.convs:
                h = conv(h, self.e)
            return self.ends[1](h["paper"])
        h = self.convs[0](h, self.e)
        h = {t: F.elu(v) if self.model == "gat" else F.relu(v) for t, v in h.items()}
        return self.convs[1](h, self.e)["paper"]


def run(path, model, device, epochs):
    x, e, y, train = load(path, device)
    m = Net(model, x, e).to(device)
    opt = torch.optim.Adam(m.parameters(), lr=0.01)
    cuda = device.startswith("cuda")
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    rss = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    before = torch.cuda.memory_allocated() / 2**20 if cuda else rss()
    walls, cpus = [], []
    for _ in range(epochs):
        wall, cpu = time.perf_counter(), time.process_time()
        opt.zero_grad()
        F.cross_entropy(m(x)[train], y[train]).backward()
        opt.step()
        if cuda:
            torch.cuda.synchronize()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    most = torch.cuda.max_memory_allocated() / 2**20 if cuda else rss()
    skip = min(2, epochs - 1)
    print(f"{model} on {device}, {torch.get_num_threads()} threads: {statistics.median(walls[skip:]):.4f} s an epoch, {statistics.median(cpus[skip:]):.4f} processor s; "
          f"memory {most:.0f} MiB at most, {most - before:.0f} beyond data and parameters", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "make":
        make(sys.argv[2], int((sys.argv[3:] or ["20"])[0]))
    else:
        path, model, device, threads, epochs = (sys.argv[2:] + ["cpu", "1", "8"][len(sys.argv) - 4:])[:5]
        torch.set_num_threads(int(threads))
        for name in ["sage-edges", "sage-csr", "sage-product"] if model == "sage" else [model]:
            try:
                run(path, name, device, int(epochs))
            except (RuntimeError, torch.OutOfMemoryError) as err:
                print(name, "failed:", str(err).splitlines()[0])

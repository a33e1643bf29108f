"""Times saga and PyTorch Geometric in turn: drawing batches, steps of GraphSAGE, products.

    go build -o bin/ ./bench && GOMAXPROCS=1 python3 bench/sampled/alternate.py bin/bench SPEC

SPEC is a synthetic graph. Both draw 15,10,5 of batches of 1024 with one thread, PyG by NeighborLoader without workers.
Steps are 100-256-256-47 with Adam, PyG's with trim_to_layer on what its own sampler draws; drawing counts in neither.
Figures are processor seconds of a batch: the median of the rounds, and of the ratios within a round.
"""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

torch.set_num_threads(1)
binary, spec = sys.argv[1:3]
rounds, n = 5, 3
folder = tempfile.mkdtemp()
saga = subprocess.Popen([binary, "sampled", "--data", spec, "--serve", folder, "--batches", str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
while not saga.stdout.readline().startswith("ready"):
    if saga.poll() is not None:
        sys.exit("no graph")
src, dst = (np.load(os.path.join(folder, x + ".npy"), mmap_mode="r") for x in ("src", "dst"))
v = int(max(src.max(), dst.max())) + 1
edges = torch.empty((2, len(src)), dtype=torch.int64)
edges[0], edges[1] = torch.from_numpy(src[:]), torch.from_numpy(dst[:])
for x in ("src", "dst"):
    os.remove(os.path.join(folder, x + ".npy"))
loader = NeighborLoader(Data(edge_index=edges, num_nodes=v), [15, 10, 5], batch_size=1024, input_nodes=torch.randperm(v)[: 1024 * (rounds + 1) * n], num_workers=0)
del edges


class Sage(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x, edges, news, hops):
        for i, conv in enumerate(self.convs):
            x, edges, _ = trim_to_layer(i, num_sampled_nodes_per_hop=news, num_sampled_edges_per_hop=hops, x=x, edge_index=edges)
            x = conv(x, edges)
            if i + 1 < len(self.convs):
                x = x.relu()
        return x[:1024]


def hops_of(edges):
    """What torch-sparse does not say: new vertices and edges of each hop. Vertices stand in the order of hops."""
    news, hops, lo, hi, at = [1024], [], 0, 1024, 0
    while at < edges.shape[1]:
        k = int((edges[1, at:] < hi).sum())
        hops.append(k)
        top = max(hi, int(edges[0, at : at + k].max()) + 1)
        news.append(top - hi)
        lo, hi, at = hi, top, at + k
    return news, hops


def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def ask(what):
    saga.stdin.write(what + "\n")
    saga.stdin.flush()
    a, b = saga.stdout.readline().split()
    return float(a), float(b)


table = torch.randn(1 << 16, 100)
model = Sage([100, 256, 256, 47])
opt = torch.optim.Adam(model.parameters(), lr=0.01)
it, labels = iter(loader), torch.randint(0, 47, (1024,))
figures = {"draw": [], "mm": [], "step": []}  # batches to come are filled behind a step
a, b = torch.rand(16384, 256), torch.rand(256, 256)
for r in range(rounds + 1):
    ours = {k: ask(k) for k in figures}
    at, batches = used(), [next(it) for _ in range(n)]
    draw = (used() - at) / n
    sizes = [hops_of(x.edge_index) for x in batches]
    at = used()
    for x, s in zip(batches, sizes):
        opt.zero_grad()
        rows = table[x.n_id % len(table)]
        out = model(rows, x.edge_index, *s)
        F.cross_entropy(out, labels).backward()
        opt.step()
    step = (used() - at) / n
    at = used()
    for _ in range(10):
        a @ b
    mm = (used() - at) / 10
    if r == 0:
        print(f"{v} vertices, {len(src)} edges; a batch of saga {ours['draw'][1]:.0f} edges, of PyG {batches[0].num_edges}", flush=True)
        continue
    for k, theirs in (("draw", draw), ("step", step), ("mm", mm)):
        figures[k].append((ours[k][0], theirs, theirs / ours[k][0]))
        print(f"round {r} {k}: saga {ours[k][0]:.4f}, PyG {theirs:.4f}", flush=True)
for k, x in figures.items():
    o, t, q = np.median(np.array(x), 0)
    print(f"{k}: saga {o:.4f}, PyG {t:.4f} processor seconds, ratio {q:.2f}")
saga.stdin.close()

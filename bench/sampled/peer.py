"""Times a GraphSAGE step of PyTorch Geometric on blocks that `go run ./bench sampled --out DIR` wrote.

    python3 bench/sampled/peer.py DIR [THREADS]

Two forms: "blocks" runs every layer on its own block, as here; "trim" runs trim_to_layer on what PyG's
own sampler would draw, where only vertices that are new at a hop draw, about an eighth less work.
"""
import glob
import os
import resource
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

folder = sys.argv[1]
torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)


def load(i):
    read = lambda name: np.load(os.path.join(folder, f"{i}-{name}.npy"))
    counts, layers = read("counts"), []
    for l in range(len(counts) - 1):
        offsets, far = read(f"offsets{l}"), read(f"far{l}")
        to = np.repeat(np.arange(counts[l]), np.diff(offsets))
        layers.append(torch.from_numpy(np.stack([far.astype(np.int64), to.astype(np.int64)])))
    return torch.from_numpy(read("features")), torch.from_numpy(read("labels").astype(np.int64)), counts, layers


def trimmed(counts, layers):
    """What PyG's sampler draws of the same: at hop l the vertices that level l has and level l-1 has not."""
    edges, hops = [], []
    for l, e in enumerate(layers):
        new = e[:, e[1] >= (counts[l - 1] if l > 0 else 0)]
        edges.append(new)
        hops.append(new.shape[1])
    return torch.cat(edges, 1), hops, [int(counts[0])] + [int(b - a) for a, b in zip(counts, counts[1:])]


class Sage(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(sizes, sizes[1:]))

    def blocks(self, x, counts, layers):
        for i, conv in enumerate(self.convs):
            l = len(layers) - 1 - i
            x = conv((x, x[: counts[l]]), layers[l])
            if i + 1 < len(self.convs):
                x = x.relu()
        return x

    def trim(self, x, edges, hops, news):
        for i, conv in enumerate(self.convs):
            x, edges, _ = trim_to_layer(i, num_sampled_nodes_per_hop=news, num_sampled_edges_per_hop=hops, x=x, edge_index=edges)
            x = conv(x, edges)
            if i + 1 < len(self.convs):
                x = x.relu()
        return x[: news[0]]


def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


batches = [load(i) for i in range(len(glob.glob(os.path.join(folder, "*-counts.npy"))))]
classes = 1 + max(int(b[1].max()) for b in batches)
torch.manual_seed(0)
for form in ("blocks", "trim"):
    model = Sage([batches[0][0].shape[1], 256, 256, max(classes, 47)])
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    wall, cpu = [], []
    for k in range(len(batches) + 1):
        x, y, counts, layers = batches[k % len(batches)]
        rest = trimmed(counts, layers) if form == "trim" else None
        start, before = time.time(), used()
        opt.zero_grad()
        out = model.trim(x, *rest) if form == "trim" else model.blocks(x, counts, layers)
        loss = F.cross_entropy(out, y)
        loss.backward()
        opt.step()
        if k > 0:
            wall.append(time.time() - start)
            cpu.append(used() - before)
    print(f"PyG {form}: median {np.median(wall):.3f} s, {np.median(cpu):.3f} processor seconds a batch, {torch.get_num_threads()} threads")

a = torch.randn(1024, 256)
b = torch.randn(256, 256)
for _ in range(3):
    a @ b
n, start, before = 200, time.time(), used()
for _ in range(n):
    a @ b
flop = 2 * 1024 * 256 * 256 * n
print(f"torch.mm 1024x256x256: {flop / (time.time() - start) / 1e9:.1f} GFLOP/s, {flop / (used() - before) / 1e9:.1f} GFLOP a processor second")

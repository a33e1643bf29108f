"""Times sampled training over several vertex types in PyTorch Geometric, for comparison with saga.

    python bench/pyg/kinds_batches.py make FOLDER SHAPE [PART [TRAIN]]    arrays of a PART-th of a shape, with TRAIN training papers
    python bench/pyg/kinds_batches.py time FOLDER SHAPE [DEVICE [BATCH [BATCHES [WORKERS,WORKERS,..]]]]

SHAPE mag: ogbn-mag's types and relations, GraphSAGE 128→64→64 in each relation, fan-outs 15,10. SHAPE igbh: those of IGBH-small, 1,024 columns,
MLPerf's R-GAT: three layers of 512 columns, 4 heads, fan-outs 15,10,5. Edges are drawn at random; a relation of two types has its reverse, and
citations go both ways. The same work by saga:

    saga train --data FOLDER --undirected --model sage --hidden 64 --sample 15,10 --eval-sample 15,10 --epochs 3 --eval-every 3
    saga train --data FOLDER --undirected --model gat --layers 3 --heads 4 --hidden 128 --sample 15,10,5 --eval-sample 15,10,5 ...

Features lie on the device, trim_to_layer leaves out what a layer does not need, the last layer has relations into papers alone. With pyg-lib
NeighborLoader draws; without it (it then has no counts that trim_to_layer could use) the draws are NumPy's, below, in a DataLoader. Prints
batches a second for each number of workers, and with batches that were drawn before the clock started: what no loader can better.
"""

import os
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric import nn as pyg
from torch_geometric.utils import trim_to_layer

MAG = ({"author": 1134649, "field_of_study": 59965, "institution": 8740, "paper": 736389},
       {("author", "affiliated_with", "institution"): 1043998, ("author", "writes", "paper"): 7145660,
        ("paper", "cites", "paper"): 5416271, ("paper", "has_topic", "field_of_study"): 7505078}, 128)
IGBH = ({"author": 1926066, "fos": 190449, "institute": 14751, "paper": 1000000},
        {("author", "affiliated_to", "institute"): 1630476, ("paper", "written_by", "author"): 4553516,
         ("paper", "cites", "paper"): 12070502, ("paper", "topic", "fos"): 7234122}, 1024)
SHAPES = {"mag": (*MAG, "sage", 64, 64, [15, 10]), "igbh": (*IGBH, "gat", 512, 19, [15, 10, 5])}
HEADS, WARM = 4, 5


def make(folder, shape, part, train):
    sizes, relations, columns, _, _, classes, _ = SHAPES[shape]
    os.makedirs(folder)
    size = {t: max(1, n // part) for t, n in sizes.items()}
    for i, (t, n) in enumerate(size.items()):
        x = np.lib.format.open_memmap(f"{folder}/{t}.x.npy", mode="w+", dtype=np.float32, shape=(n, columns))
        edges = np.linspace(0, n, 17).astype(int)
        fill = lambda j: np.random.default_rng([i, j]).random(out=x[edges[j]:edges[j + 1]], dtype=np.float32)
        with ThreadPoolExecutor() as pool:
            list(pool.map(fill, range(16)))
    rng = np.random.default_rng(1)
    for (s, r, d), n in relations.items():
        i = np.stack((rng.integers(size[s], size=n // part), rng.integers(size[d], size=n // part)))
        np.save(f"{folder}/{s}__{r}__{d}.edge_index.npy", i.astype(np.int32))
    n = size["paper"]
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    np.save(f"{folder}/paper.y.npy", y)
    place = rng.permutation(n)
    train = min(train or n * 6 // 10, n * 8 // 10)
    rest = max(1, min(2048, (n - train) // 2))
    for name, a, b in (("train", 0, train), ("val", train, train + rest), ("test", train + rest, train + 2 * rest)):
        np.save(f"{folder}/paper.{name}_mask.npy", (place >= a) & (place < b))


def load(folder, shape):
    sizes, relations = SHAPES[shape][:2]
    x = {t: np.load(f"{folder}/{t}.x.npy", mmap_mode="r") for t in sizes}
    e = {}
    for s, r, d in relations:
        i = np.load(f"{folder}/{s}__{r}__{d}.edge_index.npy").astype(np.int64)
        if s == d:
            n = len(x[s])
            i = np.unique(np.concatenate((i[0] * n + i[1], i[1] * n + i[0])))
            e[s, r, d] = np.stack((i // n, i % n))
        else:
            e[s, r, d], e[d, "rev_" + r, s] = i, i[::-1]
    return x, e, np.load(f"{folder}/paper.y.npy"), np.flatnonzero(np.load(f"{folder}/paper.train_mask.npy"))


class Draws:
    """Blocks of a batch of papers: K different in-edges of each relation for each vertex that a hop has reached for the first time."""

    def __init__(self, sizes, e, fans):
        self.fans, self.rows = fans, {}
        self.place = {t: np.full(n, -1, np.int32) for t, n in sizes.items()}
        for k, (s, d) in e.items():
            first = np.zeros(sizes[k[2]] + 1, np.int64)
            np.cumsum(np.bincount(d, minlength=sizes[k[2]]), out=first[1:])
            self.rows[k] = (first, s[np.argsort(d, kind="stable")].astype(np.int32))

    def row(self, key, targets, k, rng):
        first, source = self.rows[key]
        begin, degree = first[targets], first[targets + 1] - first[targets]
        few = np.flatnonzero(degree <= k)
        count = degree[few]
        at = np.repeat(begin[few] - np.cumsum(count) + count, count) + np.arange(count.sum())
        many = np.flatnonzero(degree > k)
        chosen = np.empty((k, len(many)), np.int64)
        for i in range(k):
            last = degree[many] - k + i
            draw = (rng.random(len(many)) * (last + 1)).astype(np.int64)
            chosen[i] = np.where((chosen[:i] == draw).any(0), last, draw)
        at = np.concatenate((at, (chosen + begin[many]).ravel()))
        return source[at], np.concatenate((np.repeat(few, count), np.tile(many, k)))

    def __call__(self, seeds):
        seeds = np.asarray(seeds)
        rng = np.random.default_rng(int(seeds[0]))
        node, edge = {t: [np.zeros(0, np.int64)] for t in self.place}, {k: [] for k in self.rows}
        node["paper"] = [seeds]
        self.place["paper"][seeds] = np.arange(len(seeds))
        total = {t: len(v[0]) for t, v in node.items()}
        for fan in self.fans:
            before, fresh = dict(total), {t: v[-1] for t, v in node.items()}
            for t in node:
                node[t].append([])
            for k in self.rows:
                s, d = self.row(k, fresh[k[2]], fan, rng)
                place = self.place[k[0]]
                new = np.unique(s[place[s] < 0])
                place[new] = np.arange(total[k[0]], total[k[0]] + len(new))
                total[k[0]] += len(new)
                node[k[0]][-1].append(new)
                edge[k].append(np.stack((place[s], d + before[k[2]] - len(fresh[k[2]]))).astype(np.int64))
            for t in node:
                node[t][-1] = np.concatenate(node[t][-1]).astype(np.int64) if node[t][-1] else np.zeros(0, np.int64)
        every = {t: np.concatenate(v) for t, v in node.items()}
        for t, v in every.items():
            self.place[t][v] = -1
        return ({t: torch.from_numpy(v) for t, v in every.items()}, {k: torch.from_numpy(np.concatenate(v, 1)) for k, v in edge.items()},
                {t: [len(v) for v in h] for t, h in node.items()}, {k: [v.shape[1] for v in h] for k, h in edge.items()}, len(seeds))


class Net(torch.nn.Module):
    def __init__(self, model, relations, columns, hidden, classes, layers):
        super().__init__()
        self.act, self.convs = F.elu if model == "gat" else F.relu, torch.nn.ModuleList()
        for i in range(layers):
            last, c = i == layers - 1, hidden if i else columns
            if model == "gat":
                one = lambda k: pyg.GATConv(c if k[0] == k[2] else (c, c), classes if last else hidden // HEADS, heads=1 if last else HEADS, add_self_loops=False)
            else:
                one = lambda k: pyg.SAGEConv((c, c), classes if last else hidden)
            self.convs.append(pyg.HeteroConv({k: one(k) for k in relations if not last or k[2] == "paper"}))

    def forward(self, h, e, nodes, edges):
        for i, conv in enumerate(self.convs):
            h, e, _ = trim_to_layer(i, nodes, edges, h, e)
            h = conv(h, e)
            if i < len(self.convs) - 1:
                h = {t: self.act(v) for t, v in h.items()}
        return h["paper"]


def batches(data, fans, seeds, size, workers):
    """An iterator over (vertices, edges, their numbers by hop, seeds) of batches."""
    x, e = data
    from torch_geometric.typing import WITH_PYG_LIB
    more = dict(batch_size=size, shuffle=True, drop_last=True, num_workers=workers, persistent_workers=False, prefetch_factor=2 if workers else None)
    if not WITH_PYG_LIB:
        draws = Draws({t: len(v) for t, v in x.items()}, e, fans)
        return iter(torch.utils.data.DataLoader(seeds, collate_fn=draws, **more))
    from torch_geometric.data import HeteroData
    from torch_geometric.loader import NeighborLoader
    g = HeteroData()
    for t, v in x.items():
        g[t].num_nodes = len(v)
    for k, i in e.items():
        g[k].edge_index = torch.from_numpy(np.ascontiguousarray(i))
    loader = NeighborLoader(g, fans, input_nodes=("paper", torch.from_numpy(seeds)), **more)
    return ((b.collect("n_id"), b.edge_index_dict, b.collect("num_sampled_nodes"), b.collect("num_sampled_edges"), b["paper"].batch_size) for b in loader)


def run(folder, shape, device, size, count, workers):
    _, _, columns, model, hidden, classes, fans = SHAPES[shape]
    x, e, y, train = load(folder, shape)
    count = min(count, len(train) // size - WARM)
    table = {t: torch.from_numpy(np.array(v)).to(device) for t, v in x.items()}
    y = torch.from_numpy(y).to(device)
    torch.manual_seed(1)
    net = Net(model, list(e), columns, hidden, classes, len(fans)).to(device)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None

    def step(batch):
        node, edge, nodes, edges, n = batch
        node = {t: v.to(device, non_blocking=True) for t, v in node.items()}
        edge = {k: v.to(device, non_blocking=True) for k, v in edge.items()}
        opt.zero_grad()
        F.cross_entropy(net({t: table[t][v] for t, v in node.items()}, edge, nodes, edges)[:n], y[node["paper"][:n]]).backward()
        opt.step()

    def clock(it, words):
        for _ in range(WARM):
            step(next(it))
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            step(next(it))
        wait()
        t = time.perf_counter() - begin
        most = torch.cuda.max_memory_allocated() / 2**30 if device.startswith("cuda") else 0
        print(f"{shape} {model} on {device}, batches of {size}, {words}: {count / t:.3f} batches a second, {1e3 * t / count:.2f} ms each; {most:.2f} GiB", flush=True)

    from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
    print(f"pyg-lib {WITH_PYG_LIB}, torch-sparse {WITH_TORCH_SPARSE}: {'NeighborLoader' if WITH_PYG_LIB else 'draws by NumPy'}", flush=True)
    ready = batches((x, e), fans, train, size, max(workers))
    few = [next(ready) for _ in range(min(WARM + count, 20))]
    del ready
    print(f"a batch has {sum(map(len, few[0][0].values()))} vertices, {sum(v.shape[1] for v in few[0][1].values())} edges", flush=True)
    clock((few[i % len(few)] for i in range(WARM + count)), "drawn before")
    for w in workers:
        begin = time.perf_counter()
        clock(batches((x, e), fans, train, size, w), f"{w} workers")
        print(f"  with their start {time.perf_counter() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "make":
        part, train = (sys.argv[4:] + ["1", "0"][len(sys.argv) - 4:])[:2]
        make(sys.argv[2], sys.argv[3], int(part), int(train))
    else:
        device, size, count, workers = (sys.argv[4:] + ["cpu", "1024", "60", "0,4,12"][len(sys.argv) - 4:])[:4]
        try:
            run(sys.argv[2], sys.argv[3], device, int(size), int(count), [int(w) for w in workers.split(",")])
        except torch.OutOfMemoryError as err:
            print("out of memory:", str(err).splitlines()[0])

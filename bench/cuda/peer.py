"""peer.py [V E IN CLASSES [HIDDEN]]: times the same work in PyTorch and PyTorch Geometric, for
comparison with saga bench epoch --uniform in the same run: training epochs (forward, backward, Adam)
of IN→HIDDEN→CLASSES, 128 unless told, on a uniform graph, each layer on every path that it has. Without
arguments the shape is reddit_middle's. Prints the median and the peak memory; what runs
out of memory says so, and its memory is free before the next. The graph is made on the GPU,
or on the CPU where there is none, which tells only that everything runs.

PEER_MODELS=gcn,ggnn runs some of the models, PEER_SECONDS=N bounds the seconds that are
spent on a model and path once it has run for one epoch (20)."""
import gc
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import GATConv, GatedGraphConv, GCNConv, MessagePassing, ResGatedGraphConv, SAGEConv

V, E, IN, CLASSES = [int(float(a)) for a in sys.argv[1:5]] or [233_000, 23_200_000, 602, 41]
HIDDEN = int(sys.argv[5]) if len(sys.argv) > 5 else 128
SECONDS = float(os.environ.get("PEER_SECONDS", "20"))
cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"


def sync():
    if cuda:
        torch.cuda.synchronize()


def timed(f):
    """The seconds that f takes, by the clock: its work is waited for."""
    sync()
    start = time.perf_counter()
    f()
    sync()
    return time.perf_counter() - start


def median(f, runs=10, warm=3):
    """The median of up to runs calls after up to warm, in ms, and how many there were: fewer where they are slow."""
    left = SECONDS - timed(f)
    for _ in range(warm - 1):
        if left <= 0:
            break
        left -= timed(f)
    times = []
    while len(times) < runs and (not times or left > 0):
        if cuda:
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            f()
            b.record()
            torch.cuda.synchronize()
            times.append(a.elapsed_time(b))
        else:
            times.append(1e3 * timed(f))
        left -= times[-1] / 1e3
    return sorted(times)[len(times) // 2], len(times)


class Two(nn.Module):
    def __init__(self, layer, hidden=HIDDEN):
        super().__init__()
        self.first, self.second = layer(IN, hidden), layer(hidden, CLASSES)

    def forward(self, x, graph):
        return self.second(F.relu(self.first(x, graph)), graph)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GATConv(IN, 8, heads=8), GATConv(64, CLASSES, heads=1)

    def forward(self, x, graph):
        return self.second(F.elu(self.first(x, graph)), graph)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.steps, self.second = nn.Linear(IN, HIDDEN), GatedGraphConv(HIDDEN, 2), nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, graph):
        return self.second(self.steps(self.first(x), graph))


class GGCN(MessagePassing):
    """The paper's G-GCN: (Σ σ(x_u·W_H + x_v·W_C) ∘ x_u)·W, the gate as wide as the input."""

    def __init__(self, inputs, outputs):
        super().__init__(aggr="add")
        self.source, self.target, self.out = (nn.Linear(i, o, bias=False) for i, o in ((inputs, inputs), (inputs, inputs), (inputs, outputs)))

    def forward(self, x, graph):
        return self.out(self.propagate(graph, x=x, a=self.source(x), b=self.target(x)))

    def message(self, x_j, a_j, b_i):
        return torch.sigmoid(a_j + b_i) * x_j


def trainer(model, graph, x, y):
    adam = torch.optim.Adam(model.parameters(), lr=0.01)

    def step():
        adam.zero_grad()
        F.cross_entropy(model(x, graph), y).backward()
        adam.step()

    return step


def uniform():
    """E edges between any vertices, sorted by destination: row starts and sources. Ends are 32 bits wide while they are
    sorted, so that a graph of 571 million edges takes less than 25 GiB on the way."""
    dst = torch.randint(0, V, (E,), device=device, dtype=torch.int32)
    dst = dst.sort().values
    ptr = torch.zeros(V + 1, dtype=torch.long, device=device)
    ptr[1:] = torch.bincount(dst, minlength=V).cumsum(0)
    del dst
    return ptr, torch.randint(0, V, (E,), device=device, dtype=torch.int32)


def csr(ptr, src, kind):
    """The graph as a sparse matrix with indices of this kind."""
    return torch.sparse_csr_tensor(ptr.to(kind), src.to(kind), torch.ones(E, device=device), (V, V), check_invariants=False)


def edge_index(ptr, src):
    """The graph as 64-bit pairs, which is what message passing takes."""
    dst = torch.repeat_interleave(torch.arange(V, device=device), ptr[1:] - ptr[:-1], output_size=E)
    return torch.stack([src.long(), dst])


def clean():
    gc.collect()
    if cuda:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def one(name, path, model, make, x, y):
    """Runs one model on one path and prints a line; False where this version lacks the path. Nothing that it took is alive
    after it."""
    start = time.perf_counter()
    graph = step = None
    known = True
    try:
        graph = make()
        step = trainer(model().to(device), graph, x, y)
        ms, runs = median(step)
        peak = f", {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB" if cuda else ""
        text = f"epoch {ms:.2f} ms{peak} (median of {runs})"
    except torch.OutOfMemoryError as e:
        text = f"out of memory: {str(e)[:120]}"
    except Exception as e:  # a path that this version lacks
        known, text = False, f"{type(e).__name__} {str(e)[:120]}"
    print(f"PyG {name}, {path}: {text}; {time.perf_counter() - start:.1f} s in all", flush=True)
    return known


def main():
    torch.manual_seed(1)
    start = time.perf_counter()
    ptr, src = uniform()
    x, y = torch.randn(V, IN, device=device), torch.randint(0, CLASSES, (V,), device=device)
    sync()
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name() if cuda else 'cpu'}: {V} vertices, {E} edges, {IN}→{HIDDEN}→{CLASSES}; "
          f"generated in {time.perf_counter() - start:.1f} s", flush=True)
    paths = {"csr": lambda: csr(ptr, src, torch.int32 if E < 2**31 else torch.long), "csr, 64-bit": lambda: csr(ptr, src, torch.long), "edge index": lambda: edge_index(ptr, src)}
    models = {
        "gcn": (lambda: Two(lambda i, o: GCNConv(i, o, normalize=False)), ("csr", "edge index")),
        "commnet": (lambda: Two(lambda i, o: SAGEConv(i, o, aggr="sum")), ("csr", "edge index")),
        "ggnn": (Gated, ("csr", "edge index")),
        "resgated": (lambda: Two(ResGatedGraphConv), ("edge index",)),
        "ggcn": (lambda: Two(GGCN), ("edge index",)),
        "mpgcn": (lambda: Two(lambda i, o: SAGEConv(i, o, aggr="max", project=True)), ("edge index",)),
        "gat": (Attention, ("edge index",)),
    }
    for name in os.environ.get("PEER_MODELS", ",".join(models)).split(","):
        model, ways = models[name]
        for path in ways:
            clean()
            if not one(name, path, model, paths[path], x, y) and path == "csr":
                clean()
                one(name, "csr, 64-bit", model, paths["csr, 64-bit"], x, y)
    clean()


if __name__ == "__main__":
    main()

"""peer.py [V E IN CLASSES [HIDDEN]]: times the same work in PyTorch and PyTorch Geometric, for
comparison with bench/cuda in the same run: training epochs (forward, backward, Adam)
of IN→HIDDEN→CLASSES, 128 unless told, on a uniform graph, each layer on every path that it has. Without
arguments the shape is reddit_middle's. Prints the median and the peak memory."""
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import GATConv, GatedGraphConv, GCNConv, ResGatedGraphConv, SAGEConv

V, E, IN, CLASSES = [int(a) for a in sys.argv[1:5]] or [233_000, 23_200_000, 602, 41]
HIDDEN = int(sys.argv[5]) if len(sys.argv) > 5 else 128
device = "cuda"


def median(f, runs=10, warm=3):
    for _ in range(warm):
        f()
    times = []
    for _ in range(runs):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        f()
        b.record()
        torch.cuda.synchronize()
        times.append(a.elapsed_time(b))
    return sorted(times)[runs // 2]


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


def trainer(model, graph, x, y):
    adam = torch.optim.Adam(model.parameters(), lr=0.01)

    def step():
        adam.zero_grad()
        F.cross_entropy(model(x, graph), y).backward()
        adam.step()

    return step


def main():
    g = torch.Generator().manual_seed(1)
    src, dst = (torch.randint(0, V, (E,), generator=g).to(device) for _ in range(2))
    order = torch.argsort(dst)
    ptr = torch.zeros(V + 1, dtype=torch.long, device=device)
    ptr[1:] = torch.bincount(dst, minlength=V).cumsum(0)
    csr = torch.sparse_csr_tensor(ptr, src[order], torch.ones(E, device=device), (V, V))
    index = torch.stack([src, dst])
    x, y = torch.randn(V, IN, device=device), torch.randint(0, CLASSES, (V,), device=device)
    models = {
        "gcn": (lambda: Two(lambda i, o: GCNConv(i, o, normalize=False)), (csr, index)),
        "commnet": (lambda: Two(lambda i, o: SAGEConv(i, o, aggr="sum")), (csr, index)),
        "ggnn": (Gated, (csr, index)),
        "resgated": (lambda: Two(ResGatedGraphConv), (index,)),
        "mpgcn": (lambda: Two(lambda i, o: SAGEConv(i, o, aggr="max", project=True)), (index,)),
        "gat": (Attention, (index,)),
    }
    for name, (model, graphs) in models.items():
        for graph in graphs:
            path = "csr" if graph is csr else "edge index"
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            try:
                step = trainer(model().to(device), graph, x, y)
                t = median(step, 10)
                print(f"PyG {name}, {path}: epoch {t:.2f} ms, {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
                del step
            except Exception as e:  # out of memory, or a path that this version lacks
                print(f"PyG {name}, {path}: {type(e).__name__} {str(e)[:80]}", flush=True)


if __name__ == "__main__":
    main()

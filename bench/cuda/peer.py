"""Times the same work in PyTorch and PyTorch Geometric, for comparison with
bench/cuda in the same run: a uniform graph of the reddit_middle shape."""
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv, ResGatedGraphConv, SAGEConv

V, E, IN, HIDDEN, CLASSES = 233_000, 23_200_000, 602, 128, 41
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


def trainer(first, second, graph, x, y):
    weights = list(first.parameters()) + list(second.parameters())
    adam = torch.optim.Adam(weights, lr=0.01)

    def step():
        adam.zero_grad()
        h = F.relu(first(x, graph))
        F.cross_entropy(second(h, graph), y).backward()
        adam.step()

    return step


def main():
    g = torch.Generator().manual_seed(1)
    src, dst = (torch.randint(0, V, (E,), generator=g).to(device) for _ in range(2))
    order = torch.argsort(dst)
    ptr = torch.zeros(V + 1, dtype=torch.long, device=device)
    ptr[1:] = torch.bincount(dst, minlength=V).cumsum(0)
    csr = torch.sparse_csr_tensor(ptr, src[order], torch.ones(E, device=device), (V, V))
    x = torch.randn(V, HIDDEN, device=device)
    print(f"torch CSR product, F={HIDDEN}: {median(lambda: csr @ x):.2f} ms", flush=True)
    x, y = torch.randn(V, IN, device=device), torch.randint(0, CLASSES, (V,), device=device)
    layers = {
        "GCNConv, CSR": (lambda i, o: GCNConv(i, o, normalize=False), csr),
        "SAGEConv sum, CSR": (lambda i, o: SAGEConv(i, o, aggr="sum"), csr),
        "ResGatedGraphConv": (ResGatedGraphConv, torch.stack([src, dst])),
    }
    for name, (layer, graph) in layers.items():
        try:
            step = trainer(layer(IN, HIDDEN).to(device), layer(HIDDEN, CLASSES).to(device), graph, x, y)
            print(f"PyG {name}: epoch {median(step, 5):.2f} ms", flush=True)
        except Exception as e:  # out of memory, or a path that this version lacks
            print(f"PyG {name}: {type(e).__name__} {str(e)[:120]}", flush=True)


if __name__ == "__main__":
    main()

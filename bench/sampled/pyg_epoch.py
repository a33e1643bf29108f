"""Times epochs of sampled GraphSAGE in PyTorch Geometric on the graph that bench sampled wrote with --out.

    go run -tags cuda ./bench sampled --epochs 3 --device cuda --out DIR
    python3 bench/sampled/pyg_epoch.py DIR [WORKERS [EPOCHS]]

Features lie on the GPU, and every layer computes only what later ones need (trim_to_layer): PyG's fastest way. The sampler
is pyg-lib's, which has to be there.
"""
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

folder = sys.argv[1]
workers = int(sys.argv[2]) if len(sys.argv) > 2 else 14
epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 2
torch.manual_seed(0)
start = time.time()

seeds = torch.from_numpy(np.load(f"{folder}/train.npy").astype(np.int64))
src = torch.from_numpy(np.load(f"{folder}/src.npy")).cuda()
dst = torch.from_numpy(np.load(f"{folder}/dst.npy")).cuda()
dst, order = torch.sort(dst, stable=True)
edges = torch.stack([src[order].cpu().long(), dst.cpu().long()])
vertices = 1 + max(int(dst[-1]), int(seeds.max()))
del src, dst, order
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
features = torch.randn(vertices, 100, device="cuda")
labels = torch.randint(0, 47, (vertices,), device="cuda")
data = Data(edge_index=edges, num_nodes=vertices)
loader = NeighborLoader(data, [15, 10, 5], input_nodes=seeds, batch_size=1024, shuffle=True, num_workers=workers,
                        persistent_workers=workers > 0, is_sorted=True)
print(f"PyG: {vertices} vertices, {edges.shape[1]} edges ready in {time.time() - start:.1f} s, {workers} workers", flush=True)


class Sage(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.convs = torch.nn.ModuleList(SAGEConv(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x, batch, edge_index):
        for i, conv in enumerate(self.convs):
            x, edge_index, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edge_index)
            x = conv(x, edge_index)
            if i + 1 < len(self.convs):
                x = F.dropout(x.relu(), 0.5, self.training)
        return x[: batch.batch_size]


model = Sage([100, 256, 256, 47]).cuda()
opt = torch.optim.Adam(model.parameters(), lr=0.003)
for epoch in range(epochs):
    waited = copied = computed = 0.0
    begin = last = time.time()
    for batch in loader:
        now = time.time()
        waited, last = waited + now - last, now
        edge_index, ids = batch.edge_index.cuda(), batch.n_id.cuda()
        x, y = features[ids], labels[ids[: batch.batch_size]]
        torch.cuda.synchronize()
        now = time.time()
        copied, last = copied + now - last, now
        opt.zero_grad()
        F.cross_entropy(model(x, batch, edge_index), y).backward()
        opt.step()
        torch.cuda.synchronize()
        now = time.time()
        computed, last = computed + now - last, now
    print(f"PyG epoch {epoch}: {time.time() - begin:.3f} s, of which waiting for the sampler {waited:.3f}, copies {copied:.3f}, "
          f"computing {computed:.3f}; peak of GPU memory {torch.cuda.max_memory_allocated()} bytes", flush=True)

"""CPU seconds a batch of PyG's NeighborLoader on a random graph, one thread.

usage: python3 neighbours.py VERTICES EDGES

Fan-outs 15,10,5, batches of 1024 seeds, no features. saga bench sample prints the same for saga.
"""
import sys
import time
import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader

torch.set_num_threads(1)
v, e = int(sys.argv[1]), int(sys.argv[2])
r = np.random.RandomState(1)
edges = torch.from_numpy(r.randint(0, v, (2, e), dtype=np.int64))
data = Data(edge_index=edges, num_nodes=v)
loader = NeighborLoader(data, [15, 10, 5], batch_size=1024, input_nodes=torch.randperm(v)[: 12 * 1024], num_workers=0)
times, at = [], time.process_time()
for b in loader:
    now = time.process_time()
    times.append(now - at)
    at = now
print("%d vertices, %d edges a batch; CPU seconds a batch: median %.4f, least %.4f" % (b.num_nodes, b.num_edges, np.median(times), min(times)))

"""Link prediction in PyTorch Geometric, the recipe of its example: GCN 128 -> 64, dot product, edges 85/5/10, Adam 0.01,
100 epochs, new negatives in every epoch.

    OMP_NUM_THREADS=1 python3 bench/peer/links.py FOLDER [SEED...]

FOLDER has edges.npy and features_csr_*.npy or features.npy. saga's side of it, for every seed:

    saga train --data FOLDER --row-normalize on --task link --model gcn --hidden 128 --width 64 --epochs 100 --seed 1 --out run
    saga evaluate run --json
"""
import os
import sys

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import negative_sampling

folder, seeds = sys.argv[1], [int(s) for s in sys.argv[2:]] or [1, 2, 3, 4, 5]
load = lambda name: np.load(os.path.join(folder, name + ".npy"))
if os.path.exists(os.path.join(folder, "features.npy")):
    x = load("features").astype("f4")
else:
    x = sp.csr_matrix((load("features_csr_data"), load("features_csr_indices"), load("features_csr_indptr"))).toarray().astype("f4")
x /= np.maximum(x.sum(1, keepdims=True), 1e-12)
edges = torch.tensor(load("edges").astype("i8"))


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one, self.two = GCNConv(width, 128), GCNConv(128, 64)

    def forward(self, x, edges):
        return self.two(self.one(x, edges).relu(), edges)


def score(z, pairs):
    return (z[pairs[0]] * z[pairs[1]]).sum(1)


rows = []
for seed in seeds:
    torch.manual_seed(seed)
    np.random.seed(seed)
    split = RandomLinkSplit(num_val=0.05, num_test=0.1, is_undirected=True, add_negative_train_samples=False)
    train, val, test = split(Data(x=torch.tensor(x), edge_index=edges, num_nodes=len(x)))
    net = Net(x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(100):
        opt.zero_grad()
        z = net(train.x, train.edge_index)
        pos = train.edge_label_index
        neg = negative_sampling(train.edge_index, num_nodes=len(x), num_neg_samples=pos.shape[1])
        y = torch.cat([torch.ones(pos.shape[1]), torch.zeros(neg.shape[1])])
        torch.nn.functional.binary_cross_entropy_with_logits(score(z, torch.cat([pos, neg], 1)), y).backward()
        opt.step()
    with torch.no_grad():
        out = []
        for graph in (train, test):  # messages along training edges, as saga has them, and along those of validation, too
            s = score(net(test.x, graph.edge_index), test.edge_label_index).numpy()
            out += [roc_auc_score(test.edge_label, s), average_precision_score(test.edge_label, s)]
    rows.append(out)
    print(seed, *("%.4f" % v for v in out), flush=True)
print("mean: AUC %.4f AP %.4f along training edges; AUC %.4f AP %.4f along those of validation, too" % tuple(np.mean(rows, 0)))

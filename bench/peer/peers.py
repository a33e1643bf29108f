"""The PyTorch Geometric models and the forms of a graph that they accept."""

import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv, GatedGraphConv, GCNConv, PNAConv, ResGatedGraphConv, SAGEConv

HEADS, STEPS = 8, 2


class TwoLayers(torch.nn.Module):
    def __init__(self, first, second, activation=F.relu):
        super().__init__()
        self.first, self.second, self.activation = first, second, activation

    def forward(self, x, adj):
        return self.second(self.activation(self.first(x, adj)), adj)


class GGNN(torch.nn.Module):
    """Linear to hidden, STEPS of message and GRU with one set of weights for the GRU, linear to the classes."""

    def __init__(self, i, h, o):
        super().__init__()
        self.inward, self.steps, self.outward = torch.nn.Linear(i, h), GatedGraphConv(h, STEPS), torch.nn.Linear(h, o)

    def forward(self, x, adj):
        return self.outward(self.steps(self.inward(x), adj))


# deg is a histogram, here of the mean in-degree alone: it makes one number.
PNA = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification", "attenuation"], deg=torch.eye(41)[40])

MODELS = {
    # Self loops and symmetric normalisation are computed in the first epoch and kept.
    "gcn": lambda i, h, o: TwoLayers(GCNConv(i, h, cached=True), GCNConv(h, o, cached=True)),
    "resgated": lambda i, h, o: TwoLayers(ResGatedGraphConv(i, h), ResGatedGraphConv(h, o)),
    "commnet": lambda i, h, o: TwoLayers(SAGEConv(i, h, aggr="sum", bias=False), SAGEConv(h, o, aggr="sum", bias=False)),
    "sage": lambda i, h, o: TwoLayers(SAGEConv(i, h), SAGEConv(h, o)),
    "gat": lambda i, h, o: TwoLayers(
        GATConv(i, h // HEADS, HEADS, add_self_loops=False), GATConv(h, o, 1, add_self_loops=False), F.elu
    ),
    "ggnn": GGNN,
    "pna": lambda i, h, o: TwoLayers(PNAConv(i, h, **PNA), PNAConv(h, o, **PNA)),
}


def edge_index(edges, vertices):
    """The plain 2 x E tensor, sorted by destination (its best case)."""
    return edges


def csr_torch_sparse(edges, vertices):
    """torch_sparse's SparseTensor of the transposed adjacency, both orders computed beforehand."""
    from torch_sparse import SparseTensor

    adj = SparseTensor(row=edges[1], col=edges[0], sparse_sizes=(vertices, vertices), is_sorted=True)
    return adj.fill_cache_()


def csr_torch(edges, vertices):
    """torch.sparse_csr of the transposed adjacency."""
    counts = torch.bincount(edges[1], minlength=vertices)
    ptr = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
    return torch.sparse_csr_tensor(ptr, edges[0], torch.ones(edges.shape[1]), (vertices, vertices))


def edge_index_class(edges, vertices):
    """PyG's EdgeIndex, which keeps row and column pointers beside the edges."""
    from torch_geometric import EdgeIndex

    return EdgeIndex(edges, sparse_size=(vertices, vertices), sort_order="col").fill_cache_()


PATHS = {
    "edge_index": edge_index,
    "edge_index_class": edge_index_class,
    "csr_torch_sparse": csr_torch_sparse,
    "csr_torch": csr_torch,
    "compiled_edge_index": edge_index,
}

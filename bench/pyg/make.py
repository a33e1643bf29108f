"""Writes weights of PyTorch Geometric's layers, and what the layers make of a small graph.

    python bench/pyg/make.py layers/testdata/pyg

NAME.pt has the weights of a model, as torch.save writes a state_dict. values.safetensors has a graph, the
logits of every model, and the gradients of the mean cross-entropy over vertices 0 to 9, all computed in
float64. Needs torch and torch_geometric.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn import Linear, ModuleList, ReLU, Sequential
from torch_geometric import nn as pyg
from torch_geometric.utils import degree

FEATURES, HIDDEN, CLASSES, DATA, TYPES, V = 5, 4, 3, 2, 3, 14


def save(path, tensors):
    """Writes a .safetensors."""
    header, at, body = {}, 0, b""
    for name, x in sorted(tensors.items()):
        x = np.ascontiguousarray(x, dtype=np.float32)
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [at, at + x.nbytes]}
        at, body = at + x.nbytes, body + x.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def graph():
    r = np.random.default_rng(5)
    pairs = np.array([(u, v) for u in range(V) for v in range(V - 1) if u != v])  # nothing points to the last
    one = pairs[r.choice(len(pairs), 40, replace=False)].T
    low = pairs[r.choice(np.nonzero(pairs[:, 0] < pairs[:, 1])[0], 20, replace=False)].T
    both = np.concatenate([low, low[::-1]], 1)
    e = one.shape[1]
    return {"edges": one, "undirected": both, "x": r.normal(size=(V, FEATURES)), "data": r.normal(size=(e, DATA)),
            "type": r.integers(0, TYPES, e), "y": r.integers(0, CLASSES, V)}


def mlp(i, o, h=HIDDEN):
    return Sequential(Linear(i, h), ReLU(), Linear(h, o))


class Stack(torch.nn.Module):
    """Layers with an activation between them, under the names of PyG's examples."""

    def __init__(self, first, second, use=(), act=F.relu):
        super().__init__()
        self.conv1, self.conv2, self.use, self.act = first, second, use, act

    def forward(self, g):
        more = [g[k] for k in self.use]
        return self.conv2(self.act(self.conv1(g["x"], g["edge_index"], *more)), g["edge_index"], *more)


class Edged(torch.nn.Module):
    """A Stack whose layers take the numbers of edges by name."""

    def __init__(self, stack):
        super().__init__()
        self.conv1, self.conv2, self.act = stack.conv1, stack.conv2, stack.act

    def forward(self, g):
        x = self.act(self.conv1(g["x"], g["edge_index"], edge_attr=g["data"]))
        return self.conv2(x, g["edge_index"], edge_attr=g["data"])


class Ready(torch.nn.Module):
    """One of PyG's own models; its names have no further prefix."""

    def __init__(self, model):
        super().__init__()
        self.net = model

    def forward(self, g):
        return self.net(g["x"], g["edge_index"])


class Predicted(torch.nn.Module):
    def __init__(self, steps, alpha):
        super().__init__()
        self.lin1, self.lin2, self.prop = Linear(FEATURES, HIDDEN), Linear(HIDDEN, CLASSES), pyg.APPNP(steps, alpha)

    def forward(self, g):
        return self.prop(self.lin2(F.relu(self.lin1(g["x"]))), g["edge_index"])


class Perceptron(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1, self.lin2 = Linear(FEATURES, HIDDEN), Linear(HIDDEN, CLASSES)

    def forward(self, g):
        return self.lin2(F.relu(self.lin1(g["x"])))


class Framed(torch.nn.Module):
    """Two layers between linear ones, as in PyG's example of GCN2."""

    def __init__(self, first, second, act, use=(), again=False):
        super().__init__()
        self.lins = ModuleList([Linear(FEATURES, HIDDEN), Linear(HIDDEN, CLASSES)])
        self.convs, self.act, self.use, self.again = ModuleList([first, second]), act, use, again

    def forward(self, g):
        x = first = self.act(self.lins[0](g["x"]))
        for conv in self.convs:
            x = conv(*([x, first] if self.again else [x]), g["edge_index"], *[g[k] for k in self.use]).relu()
        return self.lins[1](x)


class Light(torch.nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.lin, self.convs = Linear(FEATURES, CLASSES), ModuleList([pyg.LGConv() for _ in range(steps)])

    def forward(self, g):
        rows = [self.lin(g["x"])]
        for conv in self.convs:
            rows.append(conv(rows[-1], g["edge_index"]))
        return sum(rows) / len(rows)


def models(deg):
    i, h, c, d = FEATURES, HIDDEN, CLASSES, DATA
    data = ("data",)
    two = lambda conv, **k: Stack(conv(i, h), conv(h, c), **k)
    heads = lambda conv, **k: Stack(conv(i, h, heads=2, **k), conv(2 * h, c, heads=1, concat=False, **k), act=F.elu)
    pna = dict(aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification", "attenuation"], deg=deg)
    edged = lambda conv, **k: Stack(conv(i, h, heads=2, edge_dim=d, **k), conv(2 * h, c, heads=1, concat=False, edge_dim=d, **k), act=F.elu)
    yield "gcn", two(pyg.GCNConv)
    yield "sage", Ready(pyg.GraphSAGE(i, h, 2, c))
    yield "gin", Stack(pyg.GINConv(mlp(i, h), train_eps=True), pyg.GINConv(mlp(h, c), train_eps=True))
    yield "gat", heads(pyg.GATConv)
    yield "gatv2", heads(pyg.GATv2Conv)
    yield "sgc", Ready(pyg.SGConv(i, c, K=2))
    yield "appnp", Predicted(2, 0.1)
    yield "mlp", Perceptron()
    yield "resgated", two(pyg.ResGatedGraphConv)
    yield "rgcn", Stack(pyg.RGCNConv(i, h, TYPES), pyg.RGCNConv(h, c, TYPES), use=("type",))
    yield "gine", Stack(pyg.GINEConv(mlp(i, h), train_eps=True, edge_dim=d), pyg.GINEConv(mlp(h, c), train_eps=True, edge_dim=d), use=data)
    yield "gat-edges", Edged(edged(pyg.GATConv))
    yield "gatv2-edges", Edged(edged(pyg.GATv2Conv))
    yield "transformer", Edged(edged(pyg.TransformerConv))
    yield "pna", two(lambda a, b: pyg.PNAConv(a, b, **pna))
    yield "gcn2", Framed(*[pyg.GCN2Conv(h, 0.1, 0.5, k) for k in (1, 2)], F.relu, again=True)
    yield "graphconv", two(pyg.GraphConv)
    yield "edgeconv", Stack(pyg.EdgeConv(mlp(2 * i, h)), pyg.EdgeConv(mlp(2 * h, c)))
    yield "nnconv", Stack(pyg.NNConv(i, h, mlp(d, i * h)), pyg.NNConv(h, c, mlp(d, h * c)), use=data)
    yield "tag", two(lambda a, b: pyg.TAGConv(a, b, K=2))
    yield "cheb", two(lambda a, b: pyg.ChebConv(a, b, K=3))
    yield "gen", Stack(pyg.GENConv(i, h, edge_dim=d), pyg.GENConv(h, c, edge_dim=d), use=data)
    yield "film", two(pyg.FiLMConv)
    yield "lg", Light(2)
    yield "cg", Framed(pyg.CGConv(h, dim=d), pyg.CGConv(h, dim=d), lambda x: x, use=data)
    yield "gcn-cat", Ready(pyg.GCN(i, h, 2, c, jk="cat"))
    yield "sage-max", Ready(pyg.GraphSAGE(i, h, 3, c, jk="max"))
    yield "sage-batch", Ready(pyg.GraphSAGE(i, h, 2, c, norm="batch_norm"))


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    g = graph()
    made = {k: x.astype(np.float32) for k, x in g.items()}
    t = {"x": torch.tensor(made["x"]).double(), "data": torch.tensor(made["data"]).double(), "type": torch.tensor(g["type"])}
    y = torch.tensor(g["y"])[:10]
    deg = torch.bincount(degree(torch.tensor(g["edges"][1]), V, dtype=torch.long).clamp(min=1))
    for name, m in models(deg):
        torch.manual_seed(3)
        with torch.no_grad():
            for p in m.parameters():
                p.copy_(torch.randn_like(p) * 0.5)
        state = {k.removeprefix("net."): x.clone() for k, x in m.state_dict().items()}
        m = m.double()
        t["edge_index"] = torch.tensor(g["undirected" if name == "cheb" else "edges"])
        with torch.no_grad():
            made["logits." + name] = m.eval()(t).numpy()
        m.train()
        F.cross_entropy(m(t)[:10], y).backward()
        grads = {k: torch.zeros_like(x) for k, x in state.items()}
        for k, p in m.named_parameters():
            if p.grad is not None:
                grads[k.removeprefix("net.")] = p.grad.float()
        torch.save(state, out / f"{name}.pt")
        made |= {f"grad.{name}.{k}": x.numpy() for k, x in grads.items()}
    save(out / "values.safetensors", made)


main(Path(sys.argv[1]))

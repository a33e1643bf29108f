"""Golden values of PyTorch Geometric's HeteroConv, in float64.

    python heteroconv.py ../../layers/testdata/hetero.json > ../../layers/testdata/heteroconv.json

Over the graph of hetero.json, of which labels reach three types of different widths, every model is two layers of HeteroConv, with the activation (and in
some norm and residual) on what it gives, as users of PyG write it. Written are the tensors of each relation's layer and each type's norm, under
PyG's names, and the logits of the target. Needs torch and torch_geometric.
"""
import json
import sys

import torch
import torch.nn.functional as F
from torch.nn import Linear, ReLU, Sequential
from torch_geometric import nn as pyg

graph = json.load(open(sys.argv[1]))
D = torch.float64
XS = {t: torch.tensor(x, dtype=D) for t, x in graph["types"].items() if t != "lonely"}
EDGES = {(r["src"], r["name"], r["dst"]): torch.tensor(r["edges"]) for r in graph["relations"]}
HIDDEN, HEADS, DATA = 6, 2, 2
torch.manual_seed(11)
NUMBERS = {k: torch.randint(-16, 17, (e.shape[1], DATA)).double() / 16 for k, e in EDGES.items()}


def mlp(i, o):
    return Sequential(Linear(i, HIDDEN), ReLU(), Linear(HIDDEN, o))


def heads(conv, **more):
    """Heads side by side, and in the last layer their mean."""
    return lambda i, o, last, within: conv(i, o if last else o // HEADS, heads=HEADS, concat=not last, **more)


# Of widths (source, target), columns of the result, whether it is the last layer, and whether the relation is within a type: the layer.
CONVS = {
    "sage": lambda i, o, last, within: pyg.SAGEConv(i, o),
    "graphconv": lambda i, o, last, within: pyg.GraphConv(i, o),
    "gat": lambda i, o, last, within: heads(pyg.GATConv, add_self_loops=False)(i[0] if within else i, o, last, within),
    "gatv2": heads(pyg.GATv2Conv, add_self_loops=False),
    "transformer": heads(pyg.TransformerConv),
    "resgated": lambda i, o, last, within: pyg.ResGatedGraphConv(i, o),
    "film": lambda i, o, last, within: pyg.FiLMConv(i, o),
    "gen": lambda i, o, last, within: pyg.GENConv(i, o, aggr="softmax"),
    "nnconv": lambda i, o, last, within: pyg.NNConv(i, o, mlp(DATA, i[0] * o), aggr="add"),
    "gin": lambda i, o, last, within: pyg.GINConv(mlp(i[0], o), train_eps=True),
    "gine": lambda i, o, last, within: pyg.GINEConv(mlp(i[0], o), train_eps=True, edge_dim=DATA),
    "edgeconv": lambda i, o, last, within: pyg.EdgeConv(mlp(2 * i[0], o), aggr="max"),
}
EQUAL = ("gin", "gine", "edgeconv")  # need types of equal width, which a linear layer for each type gives
NUMBERED = ("nnconv", "gine")
ELU = ("gat", "gatv2", "transformer")
# What stands behind the sum: norm and residual.
MODELS = {**{n: (n, None, False) for n in CONVS}, "sage-layer": ("sage", "layer", True), "gat-batch": ("gat", "batch", True), "graphconv-residual": ("graphconv", None, True)}


def run(name, norm, residual):
    torch.manual_seed(len(name))
    x, tensors, classes = dict(XS), {}, graph["classes"]
    act = F.elu if name in ELU else F.relu

    def drawn(scope, m):
        m = m.double()
        for w in [*m.parameters(), *(b for n, b in m.named_buffers() if "running" in n)]:
            w.data = torch.randint(-16, 17, w.shape).double() / 32 + (0 if w.requires_grad else 1)  # few digits
        tensors[scope] = {n: w.tolist() for n, w in m.state_dict().items() if "num_batches" not in n}
        return m.eval()

    layer = 1
    if name in EQUAL:
        x = {t: act(drawn(f"input.{t}", Linear(v.shape[1], HIDDEN))(v)) for t, v in x.items()}
    for last in (False, True):
        out = classes if last else HIDDEN
        convs = {}
        for k in EDGES:
            if not last or k[2] == graph["target"]:
                convs[k] = drawn(f"layer{layer}.{k[1]}", CONVS[name]((x[k[0]].shape[1], x[k[2]].shape[1]), out, last, k[0] == k[2]))
        more = {"edge_attr_dict": NUMBERS} if name in NUMBERED else {}
        y = pyg.HeteroConv(convs, aggr="sum")(x, {k: EDGES[k] for k in convs}, **more)
        if not last:
            for t, v in y.items():
                if norm:
                    v = drawn(f"layer{layer}.{t}/norm", torch.nn.LayerNorm(out) if norm == "layer" else torch.nn.BatchNorm1d(out))(v)
                v = act(v)
                if residual:
                    w = x[t]
                    if w.shape[1] != out:
                        w = drawn(f"layer{layer}.{t}/residual", Linear(w.shape[1], out, bias=False))(w)
                    v = v + w
                y[t] = v
        x, layer = y, layer + 1
    return {"tensors": tensors, "logits": x[graph["target"]].tolist(), "numbers": name in NUMBERED}


with torch.no_grad():
    json.dump({"numbers": {k[1]: v.tolist() for k, v in NUMBERS.items()}, "models": {n: run(*m) for n, m in MODELS.items()}}, sys.stdout)

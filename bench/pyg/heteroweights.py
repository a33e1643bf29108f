"""State_dicts of PyTorch Geometric's modules over several types, as their users write them, and the logits that they compute in float64.

    python heteroweights.py ../../layers/testdata/hetero.json ../../layers/testdata/pyghetero

The graph is that of hetero.json. Modules have layers for all relations, also where the labels of the target do not depend on them, and metadata in
another order than that of names. Writes NAME.pt for each module and logits.json. Needs torch and torch_geometric.
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn import LayerNorm, Linear, Module, ModuleDict, ModuleList
from torch_geometric import nn as pyg

graph, out = json.load(open(sys.argv[1])), Path(sys.argv[2])
out.mkdir(exist_ok=True)
D, HIDDEN, HEADS, CLASSES = torch.float64, 6, 2, graph["classes"]
X = {t: torch.tensor(graph["types"][t], dtype=D) for t in ("venue", "paper", "author")}
E = {(r["src"], r["name"], r["dst"]): torch.tensor(r["edges"]) for r in reversed(graph["relations"])}
META = (list(X), list(E))
WIDTH = {t: x.shape[1] for t, x in X.items()}


class Convs(Module):
    """Layers of HeteroConv, with an activation between them."""

    def __init__(self, conv, act=F.relu, norm=False, roots=False, jump=False, edges=E, width=WIDTH):
        super().__init__()
        wide = lambda i, k: (HIDDEN, HIDDEN) if i else (width[k[0]], width[k[2]])
        ends = [HIDDEN, HIDDEN if jump else CLASSES]
        self.convs = ModuleList([pyg.HeteroConv({k: conv(wide(i, k), o, i == 1, k[0] == k[2]) for k in edges}, aggr="sum") for i, o in enumerate(ends)])
        self.norms = ModuleList([ModuleDict({t: LayerNorm(HIDDEN) for t in width})]) if norm else None
        self.roots = ModuleList([ModuleDict({t: Linear(HIDDEN if i else w, o) for t, w in width.items()}) for i, o in enumerate(ends)]) if roots else None
        self.lin = Linear(2 * HIDDEN, CLASSES) if jump else None
        self.act = act

    def forward(self, x, e, target):
        rows = []
        for i, conv in enumerate(self.convs):
            y = conv(x, e)
            if self.roots:
                y = {t: v + self.roots[i][t](x[t]) for t, v in y.items()}
            if i == 0 or self.lin:
                y = {t: self.act(self.norms[0][t](v) if self.norms else v) for t, v in y.items()}
            x = y
            rows.append(x[target])
        return self.lin(torch.cat(rows, 1)) if self.lin else x[target]


class HGT(Module):
    def __init__(self):
        super().__init__()
        self.lin_dict = ModuleDict({t: Linear(w, HIDDEN) for t, w in WIDTH.items()})
        self.convs = ModuleList([pyg.HGTConv(HIDDEN, HIDDEN, META, heads=HEADS) for _ in range(2)])
        self.lin = Linear(HIDDEN, CLASSES)

    def forward(self, x, e, target):
        x = {t: self.lin_dict[t](v).relu() for t, v in x.items()}
        for conv in self.convs:
            x = conv(x, e)
        return self.lin(x[target])


class HAN(Module):
    def __init__(self):
        super().__init__()
        self.han_conv = pyg.HANConv(WIDTH, HIDDEN, META, heads=HEADS)
        self.lin = Linear(HIDDEN, CLASSES)

    def forward(self, x, e, target):
        return self.lin(self.han_conv(x, e)[target])


class Sage(Module):
    """Made for one type; to_hetero has it for several."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm1, self.conv2 = pyg.SAGEConv((-1, -1), HIDDEN), LayerNorm(HIDDEN), pyg.SAGEConv((-1, -1), CLASSES)

    def forward(self, x, edge_index):
        return self.conv2(self.norm1(self.conv1(x, edge_index)).relu(), edge_index)


class To(Module):
    def __init__(self):
        super().__init__()
        self.net = pyg.to_hetero(Sage().double(), META)

    def forward(self, x, e, target):
        return self.net(x, e)[target]


gat = lambda w, o, last, within: pyg.GATConv(w[0] if within else w, o if last else o // HEADS, heads=HEADS, concat=not last, add_self_loops=False)
sage = lambda w, o, last, within: pyg.SAGEConv(w, o)
alone = {("author", "knows", "author"): E["author", "knows", "author"], ("author", "known.by", "author"): E["author", "knows", "author"].flip(0)}
MODELS = {
    "sage": lambda: Convs(sage, norm=True), "sage-to": To, "sage-cat": lambda: Convs(sage, jump=True), "gat": lambda: Convs(gat, F.elu),
    "rgcn": lambda: Convs(lambda w, o, last, within: pyg.SAGEConv(w, o, root_weight=False, bias=False), roots=True), "hgt": HGT, "han": HAN,
    "gcn": lambda: Convs(lambda w, o, last, within: pyg.GCNConv(w[0], o), edges=alone, width={"author": WIDTH["author"]}),
}
logits = {}
for name, make in MODELS.items():
    torch.manual_seed(len(name))
    m = make().double().eval()
    x, e, target = ({"author": X["author"]}, alone, "author") if name == "gcn" else (X, E, graph["target"])
    with torch.no_grad():
        m(x, e, target)  # sizes of lazy layers
        for w in m.parameters():
            w.data = torch.randint(-16, 17, w.shape).double() / 32  # few digits
        logits[name] = m(x, e, target).tolist()
    torch.save({k: v.float() for k, v in m.state_dict().items()}, out / f"{name}.pt")
json.dump(logits, open(out / "logits.json", "w"))

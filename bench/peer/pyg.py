"""Models of PyTorch Geometric's own layers, as it starts them, for the recipes of cora.py --recipes pyg|start.

Net has the interface of cora.Net. weights gives its parameters by the names and in the
layout of the engine's.
"""

import os

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn import Linear, ModuleList, ReLU, Sequential
from torch_geometric import nn as pyg

ALPHA = 0.1  # of APPNP, as in its paper


def convolution(r, i, o, last):
    """A layer of the model from i to o columns; r["hidden"] counts all heads."""
    heads = r.get("output_heads", 1) if last else r.get("heads", 1)
    width = o if last else o // heads
    return {
        "gcn": lambda: pyg.GCNConv(i, o),
        "sage": lambda: pyg.SAGEConv(i, o),
        "gin": lambda: pyg.GINConv(Sequential(Linear(i, r["hidden"]), ReLU(), Linear(r["hidden"], o)), train_eps=True),
        "gat": lambda: pyg.GATConv(i, width, heads, not last, dropout=r.get("attention_dropout", 0.0)),
        "gatv2": lambda: pyg.GATv2Conv(i, width, heads, not last, dropout=r.get("attention_dropout", 0.0)),
        "resgated": lambda: pyg.ResGatedGraphConv(i, o),
    }[r["model"]]()


class Net(torch.nn.Module):
    """A model of a recipe: two layers, or with steps two linear layers and propagation between or behind them."""

    def __init__(self, recipe, data):
        super().__init__()
        self.r, self.x, self.edges = recipe, dense(data["x"]), data["edges"]
        i, h, o = self.x.shape[1], recipe["hidden"], data["classes"]
        if recipe["model"] in ("ggnn", "appnp"):
            self.layers = ModuleList([Linear(i, h), Linear(h, o)])
            self.step = pyg.GatedGraphConv(h, 1) if recipe["model"] == "ggnn" else pyg.APPNP(recipe["steps"], ALPHA)
        else:
            self.layers = ModuleList([convolution(recipe, i, h, False), convolution(recipe, h, o, True)])

    def forward(self):
        r = self.r
        drop = lambda x: F.dropout(x, r["dropout"], self.training)
        one, two = self.layers
        if r["model"] == "ggnn":
            x = one(drop(self.x))
            for _ in range(r["steps"]):
                x = self.step(drop(x), self.edges)
            return two(drop(x))
        if r["model"] == "appnp":
            return self.step(two(drop(F.relu(one(drop(self.x))))), self.edges)
        x = one(drop(self.x), self.edges)
        x = F.elu(x) if r["model"].startswith("gat") else F.relu(x)
        return two(drop(x), self.edges)

    def groups(self):
        """Adam's two groups: what decays and what does not."""
        on = list((self if self.r["decay_on"] == "all" else self.layers[0]).parameters())
        off = [p for p in self.parameters() if not any(p is q for q in on)]
        return [{"params": on, "weight_decay": self.r["weight_decay"]}, {"params": off, "weight_decay": 0.0}]


def dense(x):
    return x if isinstance(x, torch.Tensor) else x.csr.forward(x.values).to_dense()


# Names of PyG's parameters within a layer, and the engine's; a weight matrix is stored transposed.
NAMES = {
    "gcn": {"lin.weight": "W", "bias": "b"},
    "sage": {"lin_l.weight": "W_neigh", "lin_l.bias": "b", "lin_r.weight": "W_self"},
    "gin": {"nn.0.weight": "W1", "nn.0.bias": "b1", "nn.2.weight": "W2", "nn.2.bias": "b2", "eps": "eps"},
    "gat": {"lin.weight": "W", "att_src": "a_src", "att_dst": "a_dst", "bias": "b"},
    "gatv2": {"lin_l.weight": "W_src", "lin_l.bias": "b_src", "lin_r.weight": "W_dst", "lin_r.bias": "b_dst", "att": "a", "bias": "b"},
    "resgated": {f"lin_{k}.{a}": f"{b}_{k}" for k in ("key", "query", "value") for a, b in (("weight", "W"), ("bias", "b"))}
    | {"lin_skip.weight": "W_skip", "bias": "b"},
    "ggnn": {"weight": "W", "bias": "b"},
    "appnp": {"weight": "W", "bias": "b"},
}
STEP = {"weight": "A", "rnn.weight_ih": "W_i", "rnn.weight_hh": "W_h", "rnn.bias_ih": "b_i", "rnn.bias_hh": "b_h"}


def weights(net):
    """The engine's name and matrix of every parameter of net."""
    model, out = net.r["model"], {}
    for name, w in net.named_parameters():
        part, _, rest = name.partition(".")
        if part == "step":
            scope, own = "step", STEP[rest]
        else:
            at, _, rest = rest.partition(".")
            scope, own = f"layer{int(at) + 1}", NAMES[model][rest]
            if model == "ggnn":
                scope = ("input", "output")[int(at)]
        w = w.detach().cpu()
        if w.dim() == 3:  # vectors of heads, or the products of steps, which are not transposed
            w = w.reshape(1, -1) if own.startswith("a") else w[0]
        elif w.dim() == 2:
            w = w.T
        else:
            w = w.reshape(1, -1)
        out[f"{scope}.{own}"] = w.contiguous().numpy()
    return out


def save(net, folder):
    """Writes weights(net) as .npy files."""
    os.makedirs(folder, exist_ok=True)
    for name, w in weights(net).items():
        np.save(os.path.join(folder, name + ".npy"), w)

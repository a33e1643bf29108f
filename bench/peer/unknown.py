"""Reference values for several labels of a vertex, an edge or a graph of which some are not known: float64, by PyTorch
autograd, over the graphs and the first parameters of tasks.py. The loss is the mean over the known labels.

    python3 bench/peer/unknown.py > layers/testdata/unknown.json
"""
import json
import os
import sys

import numpy as np
import torch
from sklearn import metrics

torch.set_default_dtype(torch.float64)
here = os.path.dirname(os.path.abspath(__file__))
f = json.load(open(os.path.join(here, "..", "..", "layers", "testdata", "tasks.json")))
V, F, H, C, EPOCHS = f["vertices"], f["cols"], f["hidden"], f["classes"], 20
numbers = f["numbers"]
N, things = numbers["cols"], numbers["things"]
rng = np.random.RandomState(20251125)
S, D, x0 = torch.tensor(f["src"]), torch.tensor(f["dst"]), torch.tensor(f["features"]).reshape(V, F)
G = len(things["graph"]["targets"]) // N
members = torch.zeros(G, V)
members[torch.tensor(numbers["graph_of"]), torch.arange(V)] = 1
splits = {"vertex": f, "edge": things["edge"], "graph": things["graph"]}
shapes = {"vertex": {"layer1.W_H": (F, H), "layer1.W_C": (F, H), "layer2.W_H": (H, C), "layer2.W_C": (H, C)}}
for kind in ("edge", "graph"):
    shapes[kind] = {"layer1.W_H": (F, H), "layer1.W_C": (F, H), "layer2.W_H": (H, H), "layer2.W_C": (H, H)}
shapes["edge"].update({"head.S": (H, N), "head.D": (H, N), "head.b": (1, N), "head.U": (H, 8 * N), "head.V": (H, 8 * N)})
shapes["graph"].update({"head.W": (H, N), "head.b": (1, N)})


def gather(x):
    return torch.zeros(V, x.shape[1]).index_add(0, D, x[S])


def predict(kind, P):
    x = torch.relu(x0 @ P["layer1.W_H"] + gather(x0) @ P["layer1.W_C"])
    x = x @ P["layer2.W_H"] + gather(x) @ P["layer2.W_C"]
    if kind == "vertex":
        return x
    x = torch.relu(x)
    if kind == "edge":
        u, v = x[S], x[D]
        return u @ P["head.S"] + v @ P["head.D"] + ((u @ P["head.U"]) * (v @ P["head.V"])).reshape(len(S), N, 8).sum(2) + P["head.b"]
    return (members @ x) @ P["head.W"] + P["head.b"]


def draw(kind):
    """0, 1 and NaN. Some rows outside the splits have no known label; all in the splits have one."""
    rows, cols = {"vertex": V, "edge": len(S), "graph": G}[kind], C if kind == "vertex" else N
    y = (rng.rand(rows, cols) < 0.4).astype(float)
    y[rng.rand(rows, cols) < 0.35] = np.nan
    inside = sorted(set(sum((splits[kind][k] for k in ("train", "val", "test")), [])))
    for i in inside:
        if np.isnan(y[i]).all():
            y[i, rng.randint(cols)] = rng.randint(2)
    return y


def run(case):
    kind = case["task"]
    y = draw(kind)
    case["sets"] = [-1 if np.isnan(x) else int(x) for x in y.flatten()]
    first = {**f["params"], **numbers["params"], **numbers["graph_head"]} if kind == "graph" else {**f["params"], **(numbers["params"] if kind == "edge" else {})}
    P = {k: torch.tensor(first[k]).reshape(shape).requires_grad_() for k, shape in shapes[kind].items()}
    p = None if "pos_weights" not in case else torch.tensor(case["pos_weights"])
    t = torch.tensor(y)

    def loss_of(z, rows):
        known = ~torch.isnan(t[rows])
        each = torch.nn.functional.binary_cross_entropy_with_logits(z[rows], torch.nan_to_num(t[rows]), pos_weight=p, reduction="none")
        return each[known].mean()

    def f1(z, rows):
        known = ~np.isnan(y[rows])
        of = [(y[rows][known[:, k], k], (z[rows][known[:, k], k] > 0).astype(int)) for k in range(y.shape[1])]
        return {"micro": metrics.f1_score(np.concatenate([a for a, _ in of]), np.concatenate([b for _, b in of]), zero_division=0),
                "macro": float(np.mean([metrics.f1_score(a, b, zero_division=0) if len(a) else 0.0 for a, b in of]))}

    o = torch.optim.Adam(P.values(), lr=0.01)
    out = {"losses": [], "val": [], "first": f1(predict(kind, P).detach().numpy(), splits[kind]["test"])}
    for epoch in range(EPOCHS):
        o.zero_grad()
        loss = loss_of(predict(kind, P), splits[kind]["train"])
        loss.backward()
        if epoch == 0:
            out["grads"] = {k: q.grad.flatten().tolist() for k, q in P.items()}
        out["losses"].append(loss.item())
        o.step()
        with torch.no_grad():
            out["val"].append(loss_of(predict(kind, P), splits[kind]["val"]).item())
    out["test"] = f1(predict(kind, P).detach().numpy(), splits[kind]["test"])
    return out


def short(x):
    if isinstance(x, float):
        return float("%.10g" % x)
    if isinstance(x, dict):
        return {k: short(v) for k, v in x.items()}
    return [short(v) for v in x] if isinstance(x, list) else x


cases = [{"task": kind, **weights} for kind, w in (("vertex", [3.0, 0.5, 1.0]), ("edge", [2.0, 0.5]), ("graph", [2.0, 0.5])) for weights in ({}, {"pos_weights": w})]
for case in cases:
    case["want"] = run(case)
json.dump(short(cases), sys.stdout, separators=(",", ":"))
print()

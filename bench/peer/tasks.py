"""Reference values for losses, norms, class weights and learning-rate schedules: float64, by PyTorch
autograd straight from the formulas.

    python3 bench/peer/tasks.py > layers/testdata/tasks.json

Every case trains x' = relu(x W_H + (sum of x_u over in-edges) W_C) twice, 20 epochs over the whole graph.
"""
import json
import sys

import numpy as np
import torch
from sklearn import metrics

torch.set_default_dtype(torch.float64)
V, E, F, H, C, EPOCHS = 40, 160, 5, 6, 3, 20
rng = np.random.RandomState(20181019)
src, dst = rng.randint(0, V, E), rng.randint(0, V - 2, E)
X = rng.randn(V, F)
split = rng.permutation(V)
train, val, test = [sorted(int(v) for v in s) for s in (split[:24], split[24:32], split[32:])]
labels = rng.randint(0, C, V)
several = (rng.rand(V, C) < 0.3).astype(int)
targets = np.stack([X[:, 0] - X[:, 1], np.abs(X[:, 2]), 3 * X[:, 3] + rng.randn(V)], 1) + 2
first = {"layer1.W_H": rng.randn(F, H) / 2, "layer1.W_C": rng.randn(F, H) / 4, "layer2.W_H": rng.randn(H, C) / 2,
         "layer2.W_C": rng.randn(H, C) / 4, "layer1.norm.g": 1 + rng.randn(1, H) / 4, "layer1.norm.b": rng.randn(1, H) / 4,
         "layer1.R": rng.randn(F, H) / 2}
S, D, x0 = torch.tensor(src), torch.tensor(dst), torch.tensor(X)
acts = {"": torch.relu, "elu": torch.nn.functional.elu, "gelu": lambda z: torch.nn.functional.gelu(z, approximate="tanh"), "tanh": torch.tanh,
        "sigmoid": torch.sigmoid, "leaky-relu": lambda z: torch.nn.functional.leaky_relu(z, 0.01)}


def gather(x):
    return torch.zeros(V, x.shape[1]).index_add(0, D, x[S])


def criterion(case):
    weights = case.get("class_weights"), case.get("pos_weights")
    w, p = [None if x is None else torch.tensor(x) for x in weights]
    loss = {"mse": torch.nn.MSELoss(), "mae": torch.nn.L1Loss(), "huber": torch.nn.HuberLoss(delta=case.get("delta", 1.0))}.get(case.get("loss"))
    if loss:
        return loss, torch.tensor(targets)
    if case.get("several"):
        return torch.nn.BCEWithLogitsLoss(pos_weight=p), torch.tensor(several, dtype=torch.float64)
    return torch.nn.CrossEntropyLoss(weight=w), torch.tensor(labels)


def fit(t, z):
    return {"mse": metrics.mean_squared_error(t, z), "mae": metrics.mean_absolute_error(t, z), "r2": metrics.r2_score(t, z)}


def run(case):
    norm, act = case.get("norm", ""), acts[case.get("activation", "")]
    names = ["layer1.W_H", "layer1.W_C"] + (["layer1.norm.g", "layer1.norm.b"] if norm else [])
    names += (["layer1.R"] if case.get("residual") else []) + ["layer2.W_H", "layer2.W_C"]
    P = {k: torch.tensor(first[k], requires_grad=True) for k in names}
    running = {"mean": torch.zeros(H), "var": torch.ones(H)}

    def model(training):
        y = x0 @ P["layer1.W_H"] + gather(x0) @ P["layer1.W_C"]
        if norm == "layer":
            y = torch.nn.functional.layer_norm(y, (H,), P["layer1.norm.g"][0], P["layer1.norm.b"][0])
        if norm == "batch":
            y = torch.nn.functional.batch_norm(y, running["mean"], running["var"], P["layer1.norm.g"][0], P["layer1.norm.b"][0], training, 0.1)
        x = act(y)
        if case.get("residual"):
            x = x + x0 @ P["layer1.R"]
        return x @ P["layer2.W_H"] + gather(x) @ P["layer2.W_C"]

    loss_of, y = criterion(case)
    kind, lr = case.get("optimizer", "adam"), case.get("lr", 0.02)
    o = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[kind](
        P.values(), lr=lr, **({"weight_decay": 0} if kind == "adamw" else {}))
    L, schedule, plateau = torch.optim.lr_scheduler, [], None
    s = case.get("schedule", {})
    up = s.get("warm_up", 0)
    if s.get("kind") == "cosine":
        schedule.append(L.CosineAnnealingLR(o, s["epochs"] - up, s.get("least", 0)))
    elif s.get("kind") == "plateau":
        plateau = L.ReduceLROnPlateau(o, factor=s["factor"], patience=s["patience"], min_lr=s.get("least", 0))
    if up:
        schedule = [L.LinearLR(o, 1 / up, 1, up - 1)] + schedule
        schedule = [L.SequentialLR(o, schedule, [up])] if len(schedule) > 1 else schedule
    out = {"losses": [], "rates": [], "val": []}
    if case.get("loss"):
        with torch.no_grad():
            out["first"] = fit(targets[test], model(False)[test].numpy())
    for epoch in range(EPOCHS):
        o.zero_grad()
        logits = model(True)
        loss = loss_of(logits[train], y[train])
        loss.backward()
        if epoch == 0:
            out["grads"] = {k: p.grad.flatten().tolist() for k, p in P.items()}
        out["rates"].append(o.param_groups[0]["lr"])
        out["losses"].append(loss.item())
        o.step()
        with torch.no_grad():
            plain = loss_of if case.get("class_weights") is None else torch.nn.CrossEntropyLoss()
            out["val"].append(plain(model(False)[val], y[val]).item())
        for x in schedule:
            x.step()
        if plateau:
            plateau.step(out["val"][-1])
    with torch.no_grad():
        z = model(False)[test].numpy()
    if case.get("loss"):
        out["test"] = fit(targets[test], z)
    if norm == "batch":
        out["running"] = {k: x.tolist() for k, x in running.items()}
    return out


cases = [
    {"loss": "mse"}, {"loss": "mae", "lr": 0.01}, {"loss": "huber", "delta": 0.5}, {"loss": "huber", "delta": 1.0, "optimizer": "sgd"},
    {"class_weights": [0.5, 2.0, 1.0]}, {"class_weights": [1.0, 0.0, 3.0]}, {"several": True}, {"several": True, "pos_weights": [3.0, 0.5, 1.0]},
    {"norm": "layer"}, {"norm": "batch"}, {"norm": "batch", "loss": "mse", "residual": True}, {"residual": True, "activation": "tanh"},
    {"activation": "elu"}, {"activation": "gelu"}, {"activation": "sigmoid"}, {"activation": "leaky-relu", "norm": "layer"},
    {"schedule": {"kind": "cosine", "epochs": 20}}, {"schedule": {"kind": "cosine", "epochs": 20, "warm_up": 5, "least": 0.001}, "optimizer": "sgd", "lr": 0.1},
    {"schedule": {"warm_up": 4}, "optimizer": "adamw"},
    {"schedule": {"kind": "plateau", "factor": 0.5, "patience": 1}, "optimizer": "sgd", "lr": 0.02, "loss": "mse"},
    {"schedule": {"kind": "plateau", "factor": 0.3, "patience": 2, "least": 0.004}, "lr": 0.2},
]
for case in cases:
    case["want"] = run(case)


# Numbers of edges and of graphs: two layers of H columns, then a head.
G, N = 9, 2
rng = np.random.RandomState(20181020)
graph_of = rng.randint(0, G - 1, V)  # the last graph has no vertices
wide = {"layer1.W_H": rng.randn(F, H) / 2, "layer1.W_C": rng.randn(F, H) / 4, "layer2.W_H": rng.randn(H, H) / 2, "layer2.W_C": rng.randn(H, H) / 4}
heads = {"edge": {"head.S": rng.randn(H, N) / 2, "head.D": rng.randn(H, N) / 2, "head.b": rng.randn(1, N) / 2, "head.U": rng.randn(H, 8 * N) / 4,
                  "head.V": rng.randn(H, 8 * N) / 4}, "graph": {"head.W": rng.randn(H, N) / 2, "head.b": rng.randn(1, N) / 2}}
members = torch.zeros(G, V)
members[torch.tensor(graph_of), torch.arange(V)] = 1
things = {"edge": {"targets": np.stack([X[src, 0] - X[dst, 1], X[src, 2] * X[dst, 2]], 1) + 1}, "graph": {"targets": rng.randn(G, N) * 2 + 3}}
for kind, n in (("edge", E), ("graph", G)):
    order = rng.permutation(n)
    a, b = n // 2, 3 * n // 4
    things[kind].update({k: sorted(int(v) for v in s) for k, s in zip(("train", "val", "test"), (order[:a], order[a:b], order[b:]))})


def predict(kind, readout, P):
    x = torch.relu(x0 @ P["layer1.W_H"] + gather(x0) @ P["layer1.W_C"])
    x = torch.relu(x @ P["layer2.W_H"] + gather(x) @ P["layer2.W_C"])
    if kind == "edge":
        u, v = x[S], x[D]
        both = ((u @ P["head.U"]) * (v @ P["head.V"])).reshape(E, N, 8).sum(2)
        return u @ P["head.S"] + v @ P["head.D"] + both + P["head.b"]
    r = members @ x
    if readout == "mean":
        r = r / members.sum(1, keepdim=True).clamp(min=1)
    return r @ P["head.W"] + P["head.b"]


def numbers(case):
    kind = case["task"]
    P = {k: torch.tensor(v, requires_grad=True) for k, v in {**wide, **heads[kind]}.items()}
    t = things[kind]
    loss_of, _ = criterion(case)
    y = torch.tensor(t["targets"])
    o = torch.optim.Adam(P.values(), lr=0.01)
    out = {"losses": [], "val": []}
    for epoch in range(EPOCHS):
        z = predict(kind, case.get("readout"), P)
        if epoch == 0:
            out["first"] = fit(t["targets"][t["test"]], z.detach()[t["test"]].numpy())
        loss = loss_of(z[t["train"]], y[t["train"]])
        o.zero_grad()
        loss.backward()
        if epoch == 0:
            out["grads"] = {k: p.grad.flatten().tolist() for k, p in P.items()}
        out["losses"].append(loss.item())
        o.step()
        with torch.no_grad():
            out["val"].append(loss_of(predict(kind, case.get("readout"), P)[t["val"]], y[t["val"]]).item())
    with torch.no_grad():
        out["test"] = fit(t["targets"][t["test"]], predict(kind, case.get("readout"), P)[t["test"]].numpy())
    return out


several_kinds = [{"task": "edge", "loss": "mse"}, {"task": "edge", "loss": "mae"}, {"task": "edge", "loss": "huber", "delta": 0.5},
                 {"task": "graph", "loss": "mse", "readout": "mean"}, {"task": "graph", "loss": "mae", "readout": "sum"},
                 {"task": "graph", "loss": "huber", "delta": 2.0, "readout": "mean"}]
for case in several_kinds:
    case["want"] = numbers(case)


def short(x):
    if isinstance(x, float):
        return float("%.10g" % x)
    if isinstance(x, dict):
        return {k: short(v) for k, v in x.items()}
    return [short(v) for v in x] if isinstance(x, list) else x


json.dump(short({"vertices": V, "src": src.tolist(), "dst": dst.tolist(), "features": X.flatten().tolist(), "cols": F, "hidden": H, "classes": C,
                 "train": train, "val": val, "test": test, "labels": labels.tolist(), "several": several.flatten().tolist(),
                 "targets": targets.flatten().tolist(), "params": {k: v.flatten().tolist() for k, v in first.items()}, "cases": cases,
                 "numbers": {"cols": N, "graph_of": graph_of.tolist(), "params": {k: v.flatten().tolist() for k, v in {**wide, **heads["edge"]}.items()},
                             "graph_head": {k: v.flatten().tolist() for k, v in heads["graph"].items()},
                             "things": {k: {**t, "targets": t["targets"].flatten().tolist()} for k, t in things.items()}, "cases": several_kinds}}),
          sys.stdout, separators=(",", ":"))
print()

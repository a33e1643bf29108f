"""Reference values for the heads of link prediction (float64, PyTorch autograd) and for metrics (scikit-learn).

    python3 bench/peer/linkheads.py > saga/testdata/links.json
"""
import json
import sys

import numpy as np
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

torch.set_default_dtype(torch.float64)
rng = np.random.RandomState(20261122)
V, C, N, M = 30, 5, 40, 60
z = torch.tensor(rng.randn(V, C), requires_grad=True)
src, dst = rng.randint(0, V, M), rng.randint(0, V, M)
src[3], dst[3] = 7, 7  # both ends one vertex
y = torch.tensor((np.arange(M) < N).astype(float))
params = {"dot": [], "bilinear": [("B", (C, C))], "mlp": [("W1", (C, C)), ("b1", (1, C)), ("W2", (C, 1)), ("b2", (1, 1))]}
heads = {
    "dot": lambda u, v, w: (u * v).sum(1),
    "bilinear": lambda u, v, w: ((u @ w["B"]) * v).sum(1),
    "mlp": lambda u, v, w: (torch.relu((u * v) @ w["W1"] + w["b1"]) @ w["W2"] + w["b2"])[:, 0],
}
out = {"c": C, "z": z.detach().flatten().tolist(), "src": src.tolist(), "dst": dst.tolist(), "edges": N, "heads": []}
for name, head in heads.items():
    w = {k: torch.tensor(rng.randn(*s) / 2, requires_grad=True) for k, s in params[name]}
    z.grad = None
    s = head(z[src], z[dst], w)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(s, y)
    loss.backward()
    out["heads"].append({"head": name, "w": [x.detach().flatten().tolist() for x in w.values()], "scores": s.tolist(), "loss": loss.item(),
                         "dz": z.grad.flatten().tolist(), "dw": [x.grad.flatten().tolist() for x in w.values()]})


def ranked(pos, neg):  # the definitions of ogb.linkproppred.Evaluator
    places = np.array([(neg > s).sum() + (neg >= s).sum() for s in pos]) / 2 + 1
    return {"mrr": float((1 / places).mean()), "hits": [1.0 if len(neg) < k else float((pos > np.sort(neg)[-k]).mean()) for k in (10, 50, 100)]}


out["metrics"] = []
for n, m, steps in [(50, 70, 0), (200, 120, 9), (5, 400, 40), (30, 8, 0)]:
    s = rng.randn(n + m) + (np.arange(n + m) < n)
    if steps:
        s = np.round(s * steps) / steps  # ties
    t = (np.arange(n + m) < n).astype(int)
    out["metrics"].append({"scores": s.tolist(), "positive": n, "auc": roc_auc_score(t, s), "ap": average_precision_score(t, s), **ranked(s[:n], s[n:])})


def short(x):
    if isinstance(x, float):
        return float("%.12g" % x)
    if isinstance(x, dict):
        return {k: short(v) for k, v in x.items()}
    return [short(v) for v in x] if isinstance(x, list) else x


json.dump(short(out), sys.stdout, separators=(",", ":"))
print()

"""Compares formulas.py with the reference values of golden/: logits, loss and every gradient.

    python bench/peer/check.py [--data DIR]
"""

import argparse
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

import formulas
import graphs
import memory

HIDDEN, CLASSES = 6, 4


def error(a, b):
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-300))


def check(root, model):
    def read(*name):
        return torch.from_numpy(np.load(os.path.join(root, *name) + ".npy"))

    edges = torch.stack([read("src").long(), read("dst").long()])
    v = read("features").shape[0]
    g = formulas.Edges(edges, v, read("edge_weight") if model == "gcn" else None, torch.float64)
    params = {}

    def layer_params(layer):
        def p(name, *shape):
            key = f"{layer}.{name}"
            if key not in params:
                w = read(model, key)
                if name in ("a_src", "a_dst"):
                    w = w[None]
                params[key] = w.requires_grad_()
            assert tuple(params[key].shape) == shape, (key, params[key].shape, shape)
            return params[key]

        return p

    f = formulas.LAYERS[model]
    x = read("features").requires_grad_()
    extra = {"hidden": HIDDEN} if model == "gin" else {}
    h = f(layer_params("layer1"), x, g, x.shape[1], HIDDEN, False, **extra)
    z = f(layer_params("layer2"), h, g, HIDDEN, CLASSES, True, **extra)
    mask = read("mask").long()
    loss = F.cross_entropy(z[mask], read("labels").long()[mask])
    loss.backward()
    with open(os.path.join(root, model, "meta.json")) as file:
        worst = abs(loss.item() / json.load(file)["loss"] - 1)
    worst = max(worst, error(z.detach(), read(model, "logits")), error(h.detach(), read(model, "hidden")))
    worst = max(worst, error(x.grad, read(model, "grad.features")))
    for name, w in params.items():
        worst = max(worst, error(w.grad.reshape(-1), read(model, "grad." + name).reshape(-1)))
    return worst


def check_ggnn_step():
    """golden's ggnn has three edge types; here one type, against the same step written with an edge loop."""
    torch.manual_seed(0)
    e = torch.randint(0, 9, (2, 40))
    e = e[:, torch.argsort(e[1])]
    g = formulas.Edges(e, 9, dtype=torch.float64)
    x = torch.randn(9, 5, dtype=torch.float64)
    params = {}

    def p(name, *shape):
        return params.setdefault(name, torch.randn(*shape, dtype=torch.float64))

    got = formulas.ggnn_step(p, x, g, 5)
    a = torch.zeros_like(x)
    for s, d in e.T.tolist():
        a[d] += x[s] @ params["A"][0]
    cell = torch.nn.GRUCell(5, 5, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(params["W_i"].T)
        cell.weight_hh.copy_(params["W_h"].T)
        cell.bias_ih.copy_(params["b_i"])
        cell.bias_hh.copy_(params["b_h"])
        return error(got, cell(a, x))


def check_sparse(model):
    """A sparse input must give what the same dense input gives, gradients too."""
    torch.manual_seed(1)
    e = torch.randint(0, 30, (2, 200))
    e = e[:, torch.argsort(e[1])]
    g = formulas.Edges(e, 30, dtype=torch.float64)
    x = torch.randn(30, 8, dtype=torch.float64) * (torch.rand(30, 8) < 0.3)
    s = x.to_sparse_csr()
    csr = graphs.CSR(s.crow_indices(), s.col_indices(), s.values(), x.shape)
    results, made = [], {}
    for given in (x, formulas.Sparse(csr)):
        params = {}

        def p(name, *shape):
            w = made.setdefault(name, torch.randn(*shape, dtype=torch.float64))
            return params.setdefault(name, w.clone().requires_grad_())

        z = formulas.LAYERS[model](p, given, g, 8, 6, False)
        (z * z).sum().backward()
        results.append([z.detach()] + [params[k].grad for k in made])
    return max(error(a, b) for a, b in zip(*results))


def check_memory():
    """The peak of a chain of three tensors of 4 MiB, never more than two live; Python scalars cost a few bytes."""

    def work():
        a = torch.ones(1 << 20)
        b = a + 1
        del a
        return b * 2

    extra = memory.peak_bytes(work)[0] - 2 * (4 << 20)
    return 0.0 if 0 <= extra <= 64 else 1.0


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--data", help="folder that holds data/ and golden/")
    root = os.path.join(graphs.data_root(args.parse_args().data), "golden")
    found = {model: check(root, model) for model in formulas.LAYERS}
    found["ggnn step"] = check_ggnn_step()
    found.update({f"{model}, sparse input": check_sparse(model) for model in formulas.LAYERS})
    found["peak bytes"] = check_memory()
    for name, worst in found.items():
        print(f"{name:24} {worst:.1e} {'ok' if worst <= 1e-9 else 'DIFFERS'}")
    sys.exit(any(worst > 1e-9 for worst in found.values()))


if __name__ == "__main__":
    main()

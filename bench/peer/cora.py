"""Accuracy of the layer formulas in plain torch on real graphs: the numbers the engine is held to.

    OMP_NUM_THREADS=1 nice -n 10 python bench/peer/cora.py

trains every model on Cora, Citeseer, BlogCatalog and PROTEINS (--only cora:gcn,... for
some), adds each finished pair to accuracy.json and rewrites ACCURACY.md from it. What
each pair was trained with stands in accuracy.json; the choices stand in recipes.py.
With --recipes pyg or start the layers are PyTorch Geometric's (pyg.py), and the results
go to pyg.json or start.json.
"""

import argparse
import ctypes
import json
import multiprocessing
import os
import platform
import time

import numpy as np
import torch
import torch.nn.functional as F

import formulas
import graphs
import recipes
import report

HERE = os.path.dirname(os.path.abspath(__file__))


class Net:
    """A model of recipes.py over named parameters, made where they are first used (Glorot uniform, vectors zero)."""

    def __init__(self, recipe, data, edges):
        self.r, self.data, self.g = recipe, data, edges
        self.params = {}
        self.training = True

    def scope(self, layer):
        def p(name, *shape):
            key = f"{layer}.{name}"
            if key not in self.params:
                w = torch.zeros(shape)
                if len(shape) > 1:
                    bound = (6 / (shape[-2] + shape[-1])) ** 0.5
                    w.uniform_(-bound, bound)
                self.params[key] = w.requires_grad_()
            return self.params[key]

        return p

    def dropout(self, x):
        if isinstance(x, formulas.Sparse):
            return x.dropout(self.r["dropout"], self.training)
        return F.dropout(x, self.r["dropout"], self.training)

    def __call__(self):
        r, d = self.r, self.data
        if r["features"].startswith("learned"):
            x = self.scope("embed")("E", d["vertices"], r["learned_width"])
        else:
            x = d["x"]
        i, h, o = d["widths"][r["features"]], r["hidden"], d["classes"]
        if r["model"] == "ggnn":
            p = self.scope("input")
            x = self.dropout(x) @ p("W", i, h) + p("b", h)
            for _ in range(r["steps"]):
                x = formulas.ggnn_step(self.scope("step"), self.dropout(x), self.g, h)
            p = self.scope("output")
            return self.dropout(x) @ p("W", h, o) + p("b", o)
        f = formulas.LAYERS[r["model"]]
        one, two = {}, {}
        if r["model"] == "gat":
            one = {"heads": r["heads"], "attention_dropout": r["attention_dropout"], "training": self.training}
            two = dict(one, heads=1)
        if r["model"] == "gin":
            two = {"hidden": h}
        x = f(self.scope("layer1"), self.dropout(x), self.g, i, h, False, **one)
        return f(self.scope("layer2"), self.dropout(x), self.g, h, o, True, **two)

    def train(self, mode):
        self.training = mode

    def groups(self):
        """Adam's two groups: what decays and what does not."""
        decays = {"first": ("layer1.", "input."), "all": ("",)}[self.r["decay_on"]]
        on = [w for k, w in self.params.items() if k.startswith(decays)]
        off = [w for k, w in self.params.items() if not k.startswith(decays)]
        return [{"params": on, "weight_decay": self.r["weight_decay"]}, {"params": off, "weight_decay": 0.0}]


def f1(logits, truth):
    """Micro and macro F1 of logit > 0; a class without a prediction or a label counts 0."""
    hit, said, real = (logits > 0) & truth, (logits > 0).sum(0).float(), truth.sum(0).float()
    tp = hit.sum(0).float()
    by_class = torch.where(said + real > 0, 2 * tp / (said + real).clamp(min=1), torch.zeros_like(tp))
    return float(2 * tp.sum() / (said.sum() + real.sum()).clamp(min=1)), float(by_class.mean())


def score(logits, data, split):
    ids = data[split]
    if data["multilabel"]:
        micro, macro = f1(logits[ids], data["labels"][ids].bool())
        return {"micro_f1": micro, "macro_f1": macro}
    return {"accuracy": float((logits[ids].argmax(1) == data["labels"][ids]).float().mean())}


def train(recipe, data, edges, seed):
    """One run; returns the metrics of the last epoch, and of the epochs of recipe["at"], and the seconds of the training loop."""
    torch.manual_seed(seed)
    net = make(recipe, data, edges)
    with torch.no_grad():
        net()
    out = {}
    adam = torch.optim.Adam(net.groups(), lr=recipe["lr"])
    start = time.perf_counter()
    for epoch in range(1, recipe["epochs"] + 1):
        loss = step(net, adam, data)
        if epoch in recipe.get("at", []) and epoch < recipe["epochs"]:
            out.update({f"{k}@{epoch}": v for k, v in scores(net, data).items()})
    seconds = time.perf_counter() - start
    out.update(scores(net, data), train_loss=loss, seconds=round(seconds, 2))
    return out


def make(recipe, data, edges):
    if recipe["init"] != "pyg":
        return Net(recipe, data, edges)
    import pyg

    return pyg.Net(recipe, data)


def step(net, adam, data):
    """One epoch; returns the loss before the update."""
    net.train(True)
    adam.zero_grad()
    ids = data["train"]
    z = net()[ids]
    if data["multilabel"]:
        loss = F.binary_cross_entropy_with_logits(z, data["labels"][ids].to(z.dtype))
    else:
        loss = F.cross_entropy(z, data["labels"][ids])
    loss.backward()
    adam.step()
    return loss.item()


def scores(net, data):
    """The metrics of all splits, dropout off."""
    net.train(False)
    with torch.no_grad():
        z = net()
    return {f"{split}_{k}": v for split in ("train", "val", "test") for k, v in score(z, data, split).items()}


def same_start(recipe, data, folder, seed):
    """Writes the first weights of a seed, and returns the losses of all epochs from there in float32 and float64."""
    import pyg

    out = {}
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(seed)
        net = pyg.Net(recipe, data)
        if dtype == torch.float32:
            pyg.save(net, folder)
        net.to(dtype)
        net.x = net.x.to(dtype)
        adam = torch.optim.Adam(net.groups(), lr=recipe["lr"])
        out[str(dtype).removeprefix("torch.")] = [step(net, adam, data) for _ in range(recipe["epochs"])]
    return out


def train_all(recipe, data, edges, jobs):
    """The runs of seeds 0..N-1, jobs at a time; forked children inherit the data."""
    if jobs == 1:
        return [train(recipe, data, edges, seed) for seed in range(recipe["seeds"])]
    global shared
    shared = recipe, data, edges
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        return pool.map(train_shared, range(recipe["seeds"]), chunksize=1)


def train_shared(seed):
    torch.set_num_threads(1)
    return train(*shared, seed)


def open_data(root, name):
    d = graphs.load(os.path.join(root, "data", recipes.FOLDERS.get(name, name)))
    v = d["labels"].shape[0]
    d["vertices"], d["multilabel"] = v, d["labels"].ndim == 2
    d["classes"] = d["labels"].shape[1] if d["multilabel"] else int(d["labels"].max()) + 1
    x = d.pop("features")
    if x is None:
        d["x"] = formulas.Sparse(graphs.identity(v))
    elif isinstance(x, graphs.CSR):
        d["x"] = formulas.Sparse(graphs.row_normalise(x))
    else:
        d["x"] = graphs.standardise(x)
    given = d["x"].csr.shape[1] if isinstance(d["x"], formulas.Sparse) else d["x"].shape[1]
    d["widths"] = dict.fromkeys(("row-normalised", "standardised", "one-hot"), given)
    return d


def build_edges(recipe, data):
    e, v = data["edges"], data["vertices"]
    if recipe["self_loops"]:
        e = formulas.with_loops(e, v)
    weight = formulas.symmetric(e, v) if recipe["normalize"] == "sym" else None
    return formulas.Edges(e, v, weight)


def keep_pages():
    """Asks glibc to reuse large freed blocks: returning them to the system each epoch costs more than the arithmetic."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    trim_threshold, mmap_threshold = -1, -3
    mallopt(mmap_threshold, 1 << 30)
    mallopt(trim_threshold, 2**31 - 1)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--data", help="folder that holds data/; default $SAGANN_DATA or ../shared beside the module")
    args.add_argument("--only", default="", help="DATA:MODEL pairs, comma-separated; DATA alone takes all its models")
    args.add_argument("--seeds", type=int, help="seeds 0..N-1 instead of the recipe's number")
    args.add_argument("--recipes", default="accuracy", choices=("accuracy", "pyg", "start", "downloads"), help="formulas in torch, or PyG's layers: README's table, the same start, other downloads")
    args.add_argument("--weights", help="folder for the first weights of --recipes start: PAIR/SEED")
    args.add_argument("--set", default="", help="try other values: KEY=VALUE,... (printed, not written)")
    args.add_argument("--threads", type=int, default=1)
    args.add_argument("--device", default="cpu", help="where torch computes: cpu or cuda")
    args.add_argument("--jobs", type=int, default=1, help="processes that train seeds side by side")
    args.add_argument("--out", default=HERE, help="folder of accuracy.json and ACCURACY.md")
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_default_device(a.device)
    keep_pages()
    root = graphs.data_root(a.data)
    tries = {k: json.loads(v) if v[0] in "0123456789-" else v for k, v in (kv.split("=") for kv in a.set.split(",") if kv)}
    chosen = [c.split(":") for c in a.only.split(",") if c]
    opened = {}
    listed = {"accuracy": recipes.all_recipes, "pyg": recipes.pyg_recipes, "start": recipes.start_recipes, "downloads": recipes.downloads_recipes}[a.recipes]
    for recipe in listed():
        recipe.update(tries)
        name = (recipe["data"], recipe["row"])
        if chosen and not any(name[: len(c)] == tuple(c) for c in chosen):
            continue
        data = opened.setdefault(name[0], None) or open_data(root, name[0])
        opened[name[0]] = data
        if "learned_width" in recipe:
            data["widths"]["learned"] = recipe["learned_width"]
        edges = build_edges(recipe, data) if recipe["init"] != "pyg" else None
        if a.seeds:
            recipe["seeds"] = a.seeds
        runs = train_all(recipe, data, edges, a.jobs)
        entry = {"recipe": recipe, "metrics": report.summarise(runs)}
        if a.recipes == "accuracy":
            entry["runs"] = runs
        if a.weights:
            folder = os.path.join(a.weights, "-".join(name))
            entry["losses"] = [same_start(recipe, data, os.path.join(folder, str(seed)), seed) for seed in range(recipe["seeds"])]
        print(*name, {k: f"{m['mean']:.4f}±{m['std']:.4f}" for k, m in entry["metrics"].items()}, flush=True)
        if not tries:
            env = {"torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()}
            report.write(a.out, entry, dict(env, threads=a.threads), a.recipes)


if __name__ == "__main__":
    main()

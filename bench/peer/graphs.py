"""Graphs for the peer scripts: the .npy folders of the data sets, and a uniform generator.

A graph folder holds edges.npy (int, 2 x E, source above destination), labels.npy
(V, or V x classes of 0/1 when vertices carry several labels), train.npy and, where
there are any, val.npy and test.npy (vertex ids), and the features either dense
(features.npy, V x F) or sparse (features_csr_{data,indices,indptr}.npy).
"""

import json
import os
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")


def data_root(given=None):
    """The folder that holds data/ and golden/: given, $SAGANN_DATA, or ../shared beside the module."""
    if given:
        return given
    if os.environ.get("SAGANN_DATA"):
        return os.environ["SAGANN_DATA"]
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(here, "..", "..", "..", "shared"))


def pointers(ids, n):
    """Row pointers (n+1) of sorted ids in [0, n)."""
    counts = torch.bincount(ids, minlength=n)
    return torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])


def csr(indptr, indices, values, shape):
    """A torch CSR matrix with 32-bit indices, the form that the sparse product takes without a conversion."""
    return torch.sparse_csr_tensor(indptr.int(), indices.int(), values, shape)


class CSR:
    """A sparse matrix kept in both row and column order.

    The second order makes the gradient of CSR @ W one sparse product as well. Values may
    be replaced (by dropout) without sorting again: perm maps the first order to the second.
    """

    def __init__(self, indptr, indices, values, shape):
        self.indptr = torch.as_tensor(indptr, dtype=torch.int64)
        self.indices = torch.as_tensor(indices, dtype=torch.int64)
        self.values = torch.as_tensor(values)
        self.shape = tuple(shape)
        self.on_edges = None  # formulas.Sparse keeps its edge entries here
        rows = torch.repeat_interleave(torch.arange(shape[0]), self.indptr.diff())
        self.perm = torch.argsort(self.indices, stable=True)
        self.t_indices = rows[self.perm]
        self.t_indptr = pointers(self.indices, shape[1])

    def forward(self, values):
        return csr(self.indptr, self.indices, values, self.shape)

    def transposed(self, values):
        return csr(self.t_indptr, self.t_indices, values[self.perm], self.shape[::-1])


def identity(n):
    """One-hot features: vertex i has the single feature i."""
    return CSR(np.arange(n + 1), np.arange(n), torch.ones(n), (n, n))


def load(folder):
    """Reads a folder into {edges, labels, train, val, test, features}.

    edges is int64 2 x E sorted by (destination, source); features is a CSR, a dense
    float32 tensor, or None when the graph has none.
    """

    def read(name):
        path = os.path.join(folder, name + ".npy")
        return np.load(path) if os.path.exists(path) else None

    e = read("edges").astype(np.int64)
    e = e[:, np.lexsort((e[0], e[1]))]
    labels = read("labels")
    g = {"edges": torch.as_tensor(np.ascontiguousarray(e)), "labels": torch.as_tensor(labels.astype(np.int64))}
    for split in ("train", "val", "test"):
        ids = read(split)
        g[split] = None if ids is None else torch.as_tensor(ids.astype(np.int64))
    x, data = read("features"), read("features_csr_data")
    if x is not None:
        g["features"] = torch.as_tensor(x.astype(np.float32))
    elif data is not None:
        indptr, indices = read("features_csr_indptr"), read("features_csr_indices")
        if os.path.exists(os.path.join(folder, "meta.json")):
            with open(os.path.join(folder, "meta.json")) as f:
                width = json.load(f)["features"]
        else:
            width = int(indices.max()) + 1
        g["features"] = CSR(indptr, indices, torch.as_tensor(data.astype(np.float32)), (len(labels), width))
    else:
        g["features"] = None
    return g


def row_normalise(x):
    """Divides each row of a CSR by its sum (rows of zeros stay), as is usual for Planetoid features."""
    rows = torch.repeat_interleave(torch.arange(x.shape[0]), x.indptr.diff())
    total = torch.zeros(x.shape[0]).index_add(0, rows, x.values)
    x.values = x.values / torch.where(total == 0, torch.ones_like(total), total)[rows]
    return x


def standardise(x):
    """(x - mean) / std by column, over all vertices, population std (no ddof) in float64; constant columns become 0."""
    d = x.double()
    std = d.std(0, unbiased=False)
    return torch.where(std > 0, (d - d.mean(0)) / std.clamp(min=1e-30), torch.zeros_like(d)).float()


def uniform(vertices, edges, features, classes, seed):
    """A directed graph of distinct uniform edges without self loops, normal features, uniform labels.

    60 % of the vertices train. It is a load for timing: there is nothing in it to learn.
    """
    rng = np.random.default_rng(seed)
    if edges > vertices * (vertices - 1) // 2:
        raise SystemExit(f"{edges} distinct edges do not fit a sparse graph of {vertices} vertices")
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < edges:
        want = edges - len(keys) + edges // 50 + 16
        s, d = rng.integers(0, vertices, want), rng.integers(0, vertices, want)
        keep = s != d
        keys = np.unique(np.concatenate([keys, d[keep] * vertices + s[keep]]))
    keys = np.sort(rng.permutation(keys)[:edges])
    return {
        "edges": torch.from_numpy(np.stack([keys % vertices, keys // vertices])),
        "features": torch.from_numpy(rng.standard_normal((vertices, features), dtype=np.float32)),
        "labels": torch.from_numpy(rng.integers(0, classes, vertices)),
        "train": torch.from_numpy(np.sort(rng.permutation(vertices)[: vertices * 6 // 10])),
        "val": None,
        "test": None,
    }


def save(folder, g):
    """Writes a dense graph as the .npy folder that load reads."""
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "edges.npy"), g["edges"].numpy().astype(np.int32))
    np.save(os.path.join(folder, "features.npy"), g["features"].numpy())
    np.save(os.path.join(folder, "labels.npy"), g["labels"].numpy().astype(np.int32))
    np.save(os.path.join(folder, "train.npy"), g["train"].numpy().astype(np.int32))

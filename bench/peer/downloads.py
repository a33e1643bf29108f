"""Checks graphs that saga data convert made of downloaded files against another reading of the files.

    python bench/peer/downloads.py RAW OUT/data

RAW holds, as they are in their repositories: cora.npz as cora_ml.npz and citeseer.npz as
citeseer_full.npz (shchur/gnn-benchmark, data/npz), polblogs.npz (danielzuegner/nettack, data),
minesweeper.npz, tolokers.npz, actor.npz and texas.npz (yandex-research/heterophilous-graphs, data),
PTBR_edges.csv, PTBR_target.csv, facebook_edges.csv and facebook_target.csv (benedekrozemberczki/MUSAE, input). OUT/data/NAME is what

    saga data convert RAW/NAME.npz --simple --undirected --format npy --out OUT/data/NAME
    saga data convert --edges RAW/PTBR_edges.csv --vertices RAW/PTBR_target.csv --id new_id --label mature \\
        --features days,views --simple --undirected --format npy --out OUT/data/ptbr
    saga data convert --edges RAW/facebook_edges.csv --vertices RAW/facebook_target.csv --id id --label page_type \\
        --simple --undirected --format npy --out OUT/data/facebook

wrote. A graph whose folder is not there is left out. Vertices keep the order of the file, so that arrays are
compared as they are; edges are compared as sets, splits where the file has any.
"""

import os
import sys

import numpy as np
import pandas as pd
import scipy.sparse as sp


def compressed(path):
    """gnn-benchmark's names."""
    z = np.load(path, allow_pickle=True)
    matrix = lambda k: sp.csr_matrix((z[k + "_data"], z[k + "_indices"], z[k + "_indptr"]), shape=z[k + "_shape"])
    out = {"edges": np.stack(matrix("adj").nonzero()), "labels": z["labels"]}
    if "attr_data" in z:
        out["features"] = np.asarray(matrix("attr").todense())
    return out


def several(path):
    """The heterophilous graphs' names; split 0."""
    z = np.load(path)
    splits = {k: np.flatnonzero(z[k + "_masks"][0]) for k in ("train", "val", "test")}
    return {"edges": z["edges"].T, "labels": z["node_labels"], "features": z["node_features"]} | splits


def tables(edges, vertices, key, label, features):
    e, v = pd.read_csv(edges), pd.read_csv(vertices)
    at = {k: i for i, k in enumerate(v[key])}
    out = {"edges": np.stack([e.iloc[:, k].map(at).to_numpy() for k in (0, 1)]), "labels": np.unique(v[label].astype(str), return_inverse=True)[1]}
    if features:
        out["features"] = v[features].to_numpy(np.float32)
    return out


def check(name, folder, want):
    read = lambda k: np.load(os.path.join(folder, k + ".npy")) if os.path.exists(os.path.join(folder, k + ".npy")) else None
    a, b = want["edges"]
    pairs = {(int(x), int(y)) for x, y in zip(np.r_[a, b], np.r_[b, a]) if x != y}
    got = read("edges")
    assert {(int(x), int(y)) for x, y in got.T} == pairs and got.shape[1] == len(pairs), "edges"
    for k, x in want.items():
        if k == "features" and read(k) is None:
            part = {p: read("features_csr_" + p) for p in ("data", "indices", "indptr", "shape")}
            got = np.asarray(sp.csr_matrix((part["data"], part["indices"], part["indptr"]), shape=part["shape"]).todense())
            assert np.array_equal(got, x.astype(np.float32)), k
        elif k != "edges":
            got = read(k)
            assert np.array_equal(got, x.astype(got.dtype)), k
    print(f"{name}: {len(want['labels'])} vertices, {len(pairs)} edges, {', '.join(k for k in want if k != 'edges')}: the same")


def main():
    raw, out = sys.argv[1:]
    at = lambda name: os.path.join(raw, name)
    graphs = {
        "cora_ml": lambda: compressed(at("cora_ml.npz")),
        "citeseer_full": lambda: compressed(at("citeseer_full.npz")),
        "polblogs": lambda: compressed(at("polblogs.npz")),
        **{k: lambda k=k: several(at(k + ".npz")) for k in ("minesweeper", "tolokers", "actor", "texas")},
        "ptbr": lambda: tables(at("PTBR_edges.csv"), at("PTBR_target.csv"), "new_id", "mature", ["days", "views"]),
        "facebook": lambda: tables(at("facebook_edges.csv"), at("facebook_target.csv"), "id", "page_type", None),
    }
    for name, read in graphs.items():
        folder = os.path.join(out, name)
        if os.path.isdir(folder):
            check(name, folder, read())


if __name__ == "__main__":
    main()

"""Writes one graph in every format that saga reads, by the format's own library.

    python bench/formats/make.py OUT [FOLDER]

FOLDER is a graph as an .npy folder (edges.npy, labels.npy, ...); without it a small
one is made, whose files in dataset/testdata the Go tests read:

    python bench/formats/make.py dataset/testdata/formats

Needs numpy, scipy, pandas, scikit-learn, torch and torch_geometric.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

warnings.filterwarnings("ignore")  # of libraries, about their own functions


def small():
    """24 vertices in 3 classes, on a ring with chords; every number is exact in float16."""
    v = 24
    src = np.concatenate([np.arange(v), np.arange(0, v, 3)])
    dst = np.concatenate([(np.arange(v) + 1) % v, (np.arange(0, v, 3) + 7) % v])
    edges = np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])])
    edges = edges[:, np.lexsort((edges[1], edges[0]))]
    i = np.arange(v)
    x = np.stack([(i % 5) / 4, (i * i % 7) / 8, (i % 3 == 1) * 1.0], 1).astype(np.float32)
    y = (i % 3).astype(np.int64)
    part = i % 4
    return dict(edges=edges, x=x, y=y, train=part < 2, val=part == 2, test=part == 3)


def folder(path):
    """A graph that lies in an .npy folder."""
    path = Path(path)
    g = dict(edges=np.load(path / "edges.npy").astype(np.int64))
    if g["edges"].shape[0] != 2:
        g["edges"] = g["edges"].T
    meta = json.loads((path / "meta.json").read_text()) if (path / "meta.json").exists() else {}
    if (path / "features.npy").exists():
        g["x"] = np.load(path / "features.npy")
    elif (path / "features_csr_indptr.npy").exists():
        d, i, p = (np.load(path / f"features_csr_{n}.npy") for n in ("data", "indices", "indptr"))
        g["x"] = np.asarray(sp.csr_matrix((d, i, p)).todense(), np.float32)
    if (path / "labels.npy").exists():
        g["y"] = np.load(path / "labels.npy").astype(np.int64)
    v = len(g["x"]) if "x" in g else len(g["y"]) if "y" in g else meta.get("vertices", int(g["edges"].max()) + 1)
    g["vertices"] = v
    for name in ("train", "val", "test"):
        if (path / f"{name}.npy").exists():
            ids = np.load(path / f"{name}.npy")
            g[name] = ids if ids.dtype == bool else np.isin(np.arange(v), ids)
    return g


def links(out, data):
    """Splits of links, as PyG's functions give them."""
    import torch
    from torch_geometric.transforms import RandomLinkSplit
    from torch_geometric.utils import train_test_split_edges

    def split(**more):
        torch.manual_seed(1)
        return RandomLinkSplit(num_val=0.1, num_test=0.2, is_undirected=True, **more)(data)

    parts = split()
    torch.save(parts, out / "links.pt")
    torch.save(list(split(split_labels=True)), out / "links_labels.pt")
    (out / "links").mkdir(exist_ok=True)
    for name, part in zip(("train", "val", "test"), parts):
        torch.save(part, out / "links" / f"{name}.pt")
    torch.manual_seed(1)
    old = train_test_split_edges(data.clone(), val_ratio=0.1, test_ratio=0.2)
    del old.train_neg_adj_mask
    torch.save(old, out / "links_old.pt")


def write(out, g):
    import torch
    from torch_geometric.data import Batch, Data, InMemoryDataset

    out.mkdir(parents=True, exist_ok=True)
    edges, x, y = g["edges"], g.get("x"), g.get("y")
    v = g.get("vertices", len(y) if y is not None else 0)
    masks = {n: g[n] for n in ("train", "val", "test") if n in g}
    multi = y is not None and y.ndim == 2
    pyg = {"edge_index": edges, **{f"{n}_mask": m for n, m in masks.items()}}
    if x is not None:
        pyg["x"] = x
    if y is not None:
        pyg["y"] = y
    if x is None and y is None:
        pyg["num_nodes"] = np.array(v)

    # NumPy: PyG's names; other widths, byte orders and Fortran order.
    np.savez_compressed(out / "pyg.npz", **pyg)
    other = {k: a.astype(">i8") if a.dtype == np.int64 else np.asfortranarray(a) for k, a in pyg.items()}
    np.savez(out / "orders.npz", **other)
    if x is not None and np.array_equal(x.astype(np.float16).astype(np.float32), x):
        np.savez(out / "half.npz", **{**pyg, "x": x.astype(">f2")})

    # SciPy: gnn-benchmark's names, and pickled matrices.
    adj = sp.csr_matrix((np.ones(edges.shape[1], np.float32), (edges[0], edges[1])), shape=(v, v))
    flat = dict(adj_data=adj.data, adj_indices=adj.indices, adj_indptr=adj.indptr, adj_shape=adj.shape)
    kept = dict(adj_matrix=adj, **{f"{n}_mask": m for n, m in masks.items()})
    if x is not None:
        a = sp.csr_matrix(x)
        flat.update(attr_data=a.data, attr_indices=a.indices, attr_indptr=a.indptr, attr_shape=a.shape)
        kept["node_attr"] = a
    if y is not None:
        flat["labels"] = kept["node_label"] = y
    np.savez(out / "gnnbench.npz", **flat, **masks)
    np.savez(out / "pickled.npz", **{k: np.array(m, dtype=object) if sp.issparse(m) else m for k, m in kept.items()})
    if x is not None:
        np.savez(out / "pickled_csc.npz", **{**kept, "adj_matrix": np.array(adj, dtype=object), "node_attr": np.array(sp.csc_matrix(x), dtype=object)})
        np.savez(out / "pickled_coo.npz", **{**kept, "adj_matrix": np.array(adj, dtype=object), "node_attr": np.array(sp.coo_matrix(x), dtype=object)})

    # torch and PyG.
    t = {k: torch.from_numpy(np.ascontiguousarray(a)) for k, a in pyg.items()}
    data = Data(**t)
    torch.save(data, out / "data.pt")
    torch.save(t, out / "dict.pt")
    torch.save((data, None), out / "pair.pt")
    torch.save((data.to_dict(), None, Data), out / "processed.pt")
    turned = dict(t)  # views with strides
    turned["edge_index"] = t["edge_index"].t().contiguous().t()
    if x is not None:
        turned["x"] = torch.cat([t["x"], t["x"]], 1)[:, : x.shape[1]]
    torch.save(turned, out / "strides.pt")
    if "half.npz" in {p.name for p in out.iterdir()}:
        torch.save({**t, "x": t["x"].half()}, out / "half.pt")
        torch.save({**t, "x": t["x"].bfloat16()}, out / "bfloat16.pt")
    torch.save(data, out / "legacy.pt", _use_new_zipfile_serialization=False)
    if v < 1000:
        one, two = (Data(x=t["x"][:k], edge_index=t["edge_index"][:, (t["edge_index"] < k).all(0)], y=torch.tensor([i])) for i, k in enumerate((9, 24)))
        both, slices = InMemoryDataset.collate([one, two])
        torch.save((both.to_dict(), slices, {}, Data), out / "graphs.pt")  # as a TUDataset does
        torch.save([one, two], out / "list.pt")
        torch.save(Batch.from_data_list([one, two]), out / "batch.pt")
        links(out, data)
        if x is not None and y is not None and not multi:
            sparse(out, edges, x, y, t, pyg)

    # pandas: tables by number and by name.
    named = np.array([f"vertex {i}, “{i % 7}”" for i in range(v)])
    for kind, ids in (("numbers", np.arange(v)), ("names", named)):
        pd.DataFrame({"source": ids[edges[0]], "target": ids[edges[1]]}).to_csv(out / f"{kind}_edges.csv", index=False)
        cols = {"id": ids}
        if y is not None and not multi:
            cols["label"] = y
        elif multi:
            cols.update({f"l{k}": y[:, k] for k in range(y.shape[1])})
        if masks:
            cols["split"] = np.select([masks[n] for n in masks], list(masks), "")
        if x is not None:
            cols.update({f"f{k}": x[:, k] for k in range(x.shape[1])})
        sep, end = (",", "csv") if kind == "numbers" else ("\t", "tsv")
        pd.DataFrame(cols).to_csv(out / f"{kind}_vertices.{end}", index=False, sep=sep, encoding="utf-8-sig")

    if x is not None and y is not None and not multi:
        svmlight(out, x, y)
    ogb(out / "ogb", edges, x, y, masks, v)
    binary(out / "papers", edges, x, y, masks, v)


def sparse(out, edges, x, y, t, pyg):
    """Features and edges as sparse matrices of SciPy, torch and MATLAB, and the root folder of a data set of PyG."""
    import scipy.io
    import torch

    v = len(x)
    np.savez(out / "object.npz", **{**pyg, "x": np.array(sp.csr_matrix(x), dtype=object)})
    adj = sp.csr_matrix((np.ones(edges.shape[1], np.float32), edges), (v, v))
    for kind in ("csr", "csc", "coo"):
        sp.save_npz(out / f"scipy_{kind}.npz", adj.asformat(kind))
    torch.save({**t, "x": t["x"].to_sparse_coo()}, out / "coo.pt")
    torch.save({**t, "x": t["x"].to_sparse_csr()}, out / "csr.pt")
    rest = {k: a for k, a in t.items() if k != "edge_index"}
    torch.save({**rest, "adj_t": torch.sparse_coo_tensor(t["edge_index"].flip(0), torch.ones(edges.shape[1]), (v, v)).coalesce().to_sparse_csr()}, out / "adj.pt")
    scipy.io.savemat(out / "sparse.mat", {"network": adj.astype(float), "attrb": sp.csc_matrix(x.astype(float)), "label": (y + 1).reshape(-1, 1), "notes": "text"}, do_compression=True)
    (out / "root" / "raw").mkdir(parents=True, exist_ok=True)
    (out / "root" / "processed").mkdir(exist_ok=True)
    (out / "root" / "raw" / "molecules.csv").write_text("a,b\n1,2\n")
    torch.save((t, None, dict), out / "root" / "processed" / "data.pt")
    torch.save("None", out / "root" / "processed" / "pre_filter.pt")


def svmlight(out, x, y):
    """scikit-learn's: classes with columns from 1, numbers with columns from 0, several labels of a row."""
    from sklearn.datasets import dump_svmlight_file

    dump_svmlight_file(x, y, str(out / "classes.svm"), zero_based=False, comment="rows of vertices")
    dump_svmlight_file(x, x[:, 1] * 3 - 0.25, str(out / "numbers.svmlight"))
    sets = np.stack([y == 0, y != 1], 1).astype(int)
    dump_svmlight_file(x, sets, str(out / "sets.libsvm"), multilabel=True)


def ogb(root, edges, x, y, masks, v):
    """The files of an OGB node-property set, as its downloads hold them."""
    raw, split = root / "raw", root / "split" / "scheme"
    raw.mkdir(parents=True, exist_ok=True)
    split.mkdir(parents=True, exist_ok=True)

    def table(path, rows):
        pd.DataFrame(rows).to_csv(path, header=False, index=False, compression={"method": "gzip", "mtime": 1})

    table(raw / "edge.csv.gz", edges.T)
    table(raw / "num-node-list.csv.gz", [v])
    table(raw / "num-edge-list.csv.gz", [edges.shape[1]])
    if x is not None:
        table(raw / "node-feat.csv.gz", x)
    if y is not None:
        table(raw / "node-label.csv.gz", y)
    for name, mask in masks.items():
        table(split / f"{name.replace('val', 'valid')}.csv.gz", np.flatnonzero(mask))


def binary(root, edges, x, y, masks, v):
    """The files of ogbn-papers100M."""
    raw, split = root / "raw", root / "split" / "time"
    raw.mkdir(parents=True, exist_ok=True)
    split.mkdir(parents=True, exist_ok=True)
    more = {} if x is None else {"node_feat": x}
    np.savez_compressed(raw / "data.npz", edge_index=edges, node_year=np.full((v, 1), 2000), num_nodes_list=np.array([v]), num_edges_list=np.array([edges.shape[1]]), **more)
    if y is not None:
        np.savez_compressed(raw / "node-label.npz", node_label=y.reshape(v, -1).astype(np.float32))
    for name, mask in masks.items():
        pd.DataFrame(np.flatnonzero(mask)).to_csv(split / f"{name.replace('val', 'valid')}.csv.gz", header=False, index=False, compression={"method": "gzip", "mtime": 1})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(Path(sys.argv[1]), small() if len(sys.argv) == 2 else folder(sys.argv[2]))

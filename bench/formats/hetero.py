"""Writes one graph with several types of vertices in every format that saga reads, by the format's own library.

    python bench/formats/hetero.py OUT

The Go tests read the files in dataset/testdata/formats/hetero. Needs numpy, scipy, pandas, torch and torch_geometric; with ogb, its reader checks the folder of OGB.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

warnings.filterwarnings("ignore")  # of libraries, about their own functions


def small():
    """Four types and seven relations, two of them parallel. Author 6 has no edge, venues have no features."""
    i, j = np.arange(12)[:, None], np.arange(3)[None]
    paper = dict(x=(i * (j + 2) % 5 / 4).astype(np.float32), y=np.where(np.arange(12) == 5, -1, np.arange(12) % 3))
    for name, parts in dict(train=(0, 1), val=(2,), test=(3,)).items():
        paper[f"{name}_mask"] = np.isin(np.arange(12) % 4, parts)
    i, j = np.arange(7)[:, None], np.arange(2)[None]
    author = dict(x=(i * (j + 3) % 7 / 8).astype(np.float32))
    field = dict(x=(np.arange(5)[:, None] % 4 == np.arange(4)[None]).astype(np.float32))
    k = np.arange(12)
    links = {
        ("author", "writes", "paper"): dict(edge_index=np.stack([k * 2 % 6, (k * 5 + 1) % 12])),
        ("author", "reviews", "paper"): dict(edge_index=np.stack([k[:4], 11 - k[:4]]), edge_weight=((k[:4] + 1) / 4).astype(np.float32)),
        ("author", "knows", "author"): dict(edge_index=np.array([[0, 1, 2], [1, 0, 2]])),
        ("paper", "cites", "paper"): dict(edge_index=np.stack([k, (k * 7 + 3) % 12]), edge_attr=np.stack([k / 8, -k / 4], 1).astype(np.float32)),
        ("paper", "in", "venue"): dict(edge_index=np.stack([k, k % 3])),
        ("paper", "about", "field"): dict(edge_index=np.stack([k, k % 5])),
        ("field", "rev_about", "paper"): dict(edge_index=np.stack([k % 5, k])),
    }
    return dict(paper=paper, author=author, venue=dict(num_nodes=3), field=field), links


def data(types, links):
    """The graph as PyG's HeteroData. Types and relations are not in the order of their names."""
    import torch
    from torch_geometric.data import HeteroData

    d = HeteroData()
    for name, arrays in types.items():
        for key, a in arrays.items():
            d[name][key] = a if key == "num_nodes" else torch.from_numpy(np.ascontiguousarray(a))
    for ends, arrays in links.items():
        for key, a in arrays.items():
            d[ends][key] = torch.from_numpy(np.ascontiguousarray(a))
    d.validate(raise_on_error=True)
    return d


def torch_files(out, types, links):
    import torch
    from torch_geometric.data import InMemoryDataset
    from torch_geometric.transforms import ToSparseTensor

    d = data(types, links)
    torch.save(d, out / "data.pt")
    InMemoryDataset.save([d], str(out / "processed.pt"))
    InMemoryDataset.save([d, d], str(out / "two.pt"))
    torch.save([d], out / "list.pt")
    torch.save(d.to_dict(), out / "dict.pt")
    turned = data(types, links)
    turned["field"].x = turned["field"].x.to_sparse_csr()
    torch.save(turned, out / "sparse.pt")
    adj = data(types, {ends: arrays for ends, arrays in links.items() if ends[1] == "in"})
    torch.save(ToSparseTensor(layout=torch.sparse_csr)(adj), out / "adj.pt")


def numpy_files(out, types, links):
    flat = {f"{name}.{key}": np.array(a) for name, arrays in types.items() for key, a in arrays.items()}
    flat.update({f"{'__'.join(ends)}.{key}": a for ends, arrays in links.items() for key, a in arrays.items()})
    np.savez_compressed(out / "names.npz", **flat)
    m = sp.csr_matrix(flat["field.x"])
    flat.update({f"field.features_csr_{key}": getattr(m, key) for key in ("data", "indices", "indptr", "shape")})
    del flat["field.x"]
    np.savez_compressed(out / "csr.npz", **flat)
    for name, arrays in types.items():
        (out / "folders" / name).mkdir(parents=True, exist_ok=True)
        for key, a in arrays.items():
            if name == "field":
                sp.save_npz(out / "folders" / name / "x.npz", m)
            else:
                np.save(out / "folders" / name / f"{dict(x='node_feat').get(key, key)}.npy", np.array(a))
    for ends, arrays in links.items():
        folder = out / "folders" / "__".join(ends)
        folder.mkdir(parents=True, exist_ok=True)
        for key, a in arrays.items():
            np.save(folder / f"{key}.npy", a.T if key == "edge_index" else a)


def ogb(root, types, links):
    """The files of an OGB node-property set with several types, as its downloads hold them, and what ogb's own reader makes of them."""
    raw, split = root / "raw", root / "split" / "time"

    def table(path, rows, header=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, header=header, index=False, na_rep="nan", compression={"method": "gzip", "mtime": 1})

    def count(arrays):
        return int(arrays.get("num_nodes", len(arrays.get("x", ()))))

    table(raw / "num-node-dict.csv.gz", {name: [count(a)] for name, a in types.items()}, header=True)
    table(raw / "nodetype-has-feat.csv.gz", {name: ["x" in a] for name, a in types.items()}, header=True)
    table(raw / "nodetype-has-label.csv.gz", {name: ["y" in a] for name, a in types.items()}, header=True)
    table(split / "nodetype-has-split.csv.gz", {name: ["y" in a] for name, a in types.items()}, header=True)
    table(raw / "triplet-type-list.csv.gz", list(links))
    for ends, arrays in links.items():
        folder = raw / "relations" / "___".join(ends)
        table(folder / "edge.csv.gz", arrays["edge_index"].T)
        table(folder / "num-edge-list.csv.gz", [arrays["edge_index"].shape[1]])
        table(folder / "edge_reltype.csv.gz", np.full((arrays["edge_index"].shape[1], 1), list(links).index(ends)))
        if "edge_attr" in arrays:
            table(folder / "edge-feat.csv.gz", arrays["edge_attr"])
    for name, arrays in types.items():
        if "x" in arrays:
            table(raw / "node-feat" / name / "node-feat.csv.gz", arrays["x"])
        if "y" in arrays:
            table(raw / "node-label" / name / "node-label.csv.gz", np.where(arrays["y"] < 0, np.nan, arrays["y"]).reshape(-1, 1))
            table(raw / "node-feat" / name / "node_year.csv.gz", np.full((len(arrays["y"]), 1), 2000))
            for part in ("train", "val", "test"):
                table(split / name / f"{part.replace('val', 'valid')}.csv.gz", np.flatnonzero(arrays[f"{part}_mask"]))
    try:
        from ogb.io.read_graph_raw import read_csv_heterograph_raw, read_node_label_hetero, read_nodesplitidx_split_hetero
    except ImportError:
        print("ogb is not installed: its reader has not seen", root)
        return
    (g,) = read_csv_heterograph_raw(str(raw), additional_node_files=["node_year"], additional_edge_files=["edge_reltype"])
    assert all(np.array_equal(g["edge_index_dict"][ends], a["edge_index"]) for ends, a in links.items())
    assert all(np.array_equal(g["node_feat_dict"][name], a["x"]) for name, a in types.items() if "x" in a)
    assert np.array_equal(np.nan_to_num(read_node_label_hetero(str(raw))["paper"][:, 0], nan=-1), types["paper"]["y"])
    assert np.array_equal(read_nodesplitidx_split_hetero(str(split))[1]["paper"], np.flatnonzero(types["paper"]["val_mask"]))


def tables(out, types, links):
    """A table for each type and relation. Papers have texts for ids, authors numbers that are no places, venues no table."""
    ids = {"paper": np.array([f"paper {i}" for i in range(12)]), "author": 100 - np.arange(7) * 10, "venue": np.arange(3), "field": np.arange(5)}
    out.mkdir(parents=True, exist_ok=True)
    for name, arrays in types.items():
        if name == "venue":
            continue
        cols = {"id": ids[name], **{f"f{k}": arrays["x"][:, k] for k in range(arrays["x"].shape[1])}}
        if "y" in arrays:
            cols["label"] = ["" if y < 0 else str(y) for y in arrays["y"]]
            parts = {"train": arrays["train_mask"] & (arrays["y"] >= 0), "val": arrays["val_mask"], "test": arrays["test_mask"]}
            cols["split"] = np.select(list(parts.values()), list(parts), "")
        pd.DataFrame(cols).to_csv(out / f"{name}.csv", index=False)
    for (source, name, target), arrays in links.items():
        src, dst = arrays["edge_index"]
        cols = {f"{source}_id": ids[source][src], f"{target}_id" if target != source else "other_id": ids[target][dst]}
        if "edge_weight" in arrays:
            cols["weight"] = arrays["edge_weight"]
        if "edge_attr" in arrays:
            cols.update(e0=arrays["edge_attr"][:, 0], e1=arrays["edge_attr"][:, 1])
        pd.DataFrame(cols).to_csv(out / f"{name}.csv", index=False)


def write(out):
    out.mkdir(parents=True, exist_ok=True)
    types, links = small()
    torch_files(out, types, links)
    numpy_files(out, types, links)
    tables(out / "tables", types, links)
    ogb(out / "ogb", types, {ends: {k: a for k, a in arrays.items() if k != "edge_weight"} for ends, arrays in links.items()})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))

"""Writes public sets with several types of vertices as .npz files that saga reads.

    python bench/formats/public.py heco  FOLDER OUT.npz [LABELS]   # HeCo's: labels.npy, pa.txt, p_feat.npz, train_20.npy, …
    python bench/formats/public.py lastfm FOLDER OUT.npz           # user_artist.dat, user_user(original).dat, artist_tag.dat, train_val_test_idx.npz
    python bench/formats/public.py wn18rr FOLDER OUT.npz           # train.txt, valid.txt, test.txt: one type, a relation for each of the 11

Then: saga data convert OUT.npz --undirected --out graph.saga. LABELS is the number of labels a class in training: 20, 40 or 60. In
a relation of LastFM (user__rates__artist) and in all of WN18RR, edges have a split for training, validation and testing.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def heco(folder, labels):
    out = {"p.y": np.load(folder / "labels.npy")}
    for part in ("train", "val", "test"):
        out[f"p.{part}"] = np.sort(np.load(folder / f"{part}_{labels}.npy"))
    for path in folder.glob("?_feat.npz"):
        m = sp.load_npz(path).tocsr().astype(np.float32)
        m.sort_indices()
        out.update({f"{path.name[0]}.features_csr_{k}": getattr(m, k) for k in ("data", "indices", "indptr")})
        out[f"{path.name[0]}.features_csr_shape"] = np.array(m.shape)
    for path in folder.glob("??.txt"):
        a, b = path.stem
        ends = np.loadtxt(path, dtype=np.int64, ndmin=2).T
        out[f"{a}__{path.stem}__{b}.edge_index"] = ends
        out.setdefault(f"{b}.num_nodes", np.array(int(ends[1].max()) + 1))
    for name in [n for n in out if n.endswith(".num_nodes") and n.split(".")[0] + ".features_csr_shape" in out]:
        out[name] = out[name.split(".")[0] + ".features_csr_shape"][0]
    return out


def lastfm(folder):
    def ends(name):
        return np.loadtxt(folder / name, dtype=np.int64)[:, :2].T - 1

    rates = ends("user_artist.dat")
    parts = np.load(folder / "train_val_test_idx.npz")
    out = {"user__rates__artist.edge_index": rates, "user__knows__user.edge_index": ends("user_user(original).dat"), "artist__has__tag.edge_index": ends("artist_tag.dat")}
    for part in ("train", "val", "test"):
        mask = np.zeros(rates.shape[1], bool)
        mask[parts[f"{part}_idx"]] = True
        out[f"user__rates__artist.edge_{part}"] = mask
    return out


def wn18rr(folder):
    rows = [(part, *line.split()) for part in ("train", "valid", "test") for line in (folder / f"{part}.txt").read_text().splitlines()]
    names = sorted({x for _, a, _, b in rows for x in (a, b)})
    number = {x: i for i, x in enumerate(names)}
    out = {"word.ids": np.array(names)}
    for relation in sorted({r for _, _, r, _ in rows}):
        mine = [(p, number[a], number[b]) for p, a, r, b in rows if r == relation]
        key = f"word__{relation.strip('_')}__word"
        out[f"{key}.edge_index"] = np.array([[a for _, a, _ in mine], [b for _, _, b in mine]])
        for part in ("train", "valid", "test"):
            out[f"{key}.edge_{part.replace('valid', 'val')}"] = np.array([p == part for p, _, _ in mine])
    return out


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ("heco", "lastfm", "wn18rr"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    out = heco(folder, sys.argv[4] if len(sys.argv) == 5 else "60") if sys.argv[1] == "heco" else globals()[sys.argv[1]](folder)
    np.savez_compressed(sys.argv[3], **out)

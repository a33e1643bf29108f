"""Writes public sets with several types of vertices as .npz files that saga reads.

    python bench/formats/public.py heco  FOLDER OUT.npz [LABELS [TYPE]]   # HeCo's: labels.npy, pa.txt, p_feat.npz, train_20.npy, …
    python bench/formats/public.py lastfm FOLDER OUT.npz           # user_artist.dat, user_user(original).dat, artist_tag.dat, train_val_test_idx.npz
    python bench/formats/public.py wn18rr FOLDER OUT.npz           # train.txt, valid.txt, test.txt: one type, a relation for each of the 11

Then: saga data convert OUT.npz --undirected --out graph.saga. LABELS is the number of labels a class in training: 20, 40 or 60;
labels are of TYPE, by default the type that has as many vertices as labels.npy has rows: papers in ACM and AMiner, authors in DBLP, movies in Freebase. In
a relation of LastFM (user__rates__artist) and in all of WN18RR, edges have a split for training, validation and testing.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def heco(folder, labels, target=None):
    feats = {path.name[:-len("_feat.npz")]: sp.load_npz(path).tocsr().astype(np.float32) for path in sorted(folder.glob("?_feat.npz"))}
    ends = {path.stem: np.loadtxt(path, dtype=np.int64, ndmin=2)[:, :2].T for path in sorted(folder.glob("??.txt"))}
    least = {t: 0 for r in ends for t in r}  # as many vertices of a type as edges name
    for r, e in ends.items():
        for t, at in zip(r, e):
            least[t] = max(least[t], 1 + int(at.max(initial=-1)))
    y = np.load(folder / "labels.npy")
    target = target or labelled(least, feats, len(y))
    out = {f"{target}.y": y}
    for part in ("train", "val", "test"):
        out[f"{target}.{part}"] = np.sort(np.load(folder / f"{part}_{labels}.npy"))
    for t, m in feats.items():
        m.sort_indices()
        out.update({f"{t}.features_csr_{k}": getattr(m, k) for k in ("data", "indices", "indptr")})
        out[f"{t}.features_csr_shape"] = np.array(m.shape)
    for r, e in ends.items():
        out[f"{r[0]}__{r}__{r[1]}.edge_index"] = e
    for t, n in least.items():
        out[f"{t}.num_nodes"] = np.array(feats[t].shape[0] if t in feats else len(y) if t == target else n)
    return out


def labelled(least, feats, rows):
    """The type that labels of so many rows are of."""
    size = lambda t: feats[t].shape[0] if t in feats else least[t]
    fit = [t for t in least if size(t) == rows]
    if not fit:  # the last ones have no edges
        fit = sorted((t for t in least if t not in feats and least[t] < rows), key=least.get)[-1:]
    if len(fit) != 1:
        sys.exit(f"labels.npy has {rows} rows: give the TYPE that they are of, one of {', '.join(f'{t} ({size(t)})' for t in sorted(least))}")
    print(f"labels are of {fit[0]}", file=sys.stderr)
    return fit[0]


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
    if len(sys.argv) not in (4, 5, 6) or sys.argv[1] not in ("heco", "lastfm", "wn18rr"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    out = heco(folder, *(sys.argv[4:] or ["60"])) if sys.argv[1] == "heco" else globals()[sys.argv[1]](folder)
    np.savez_compressed(sys.argv[3], **out)

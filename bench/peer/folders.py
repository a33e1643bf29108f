"""Makes the graphs of pyg.py that the data sets' folders lack something for, beside links to the others.

    python bench/peer/folders.py OUT [--data DIR] [--raw RAW]

writes OUT/data/NAME. pubmed gets the features that its folder has, of 1,060 vertices, and zeros.
RAW holds DE_target.csv and DE.json of twitch/DE of github.com/benedekrozemberczki/datasets at
032d501, and email-Eu-core-department-labels.txt of snap.stanford.edu/data/email-Eu-core.html;
without it twitch_de and email_eu_core are left out. degree40 is generated.
"""

import argparse
import json
import os

import numpy as np

import graphs


def write(folder, **arrays):
    os.makedirs(folder, exist_ok=True)
    for name, a in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), a)


def rows(lists, width):
    """0/1 features of lists of columns, or of (columns, values), as a CSR folder has them."""
    pairs = [x if isinstance(x, tuple) else (sorted(set(x)), None) for x in lists]
    values = [np.ones(len(c)) if v is None else v for c, v in pairs]
    return {
        "features_csr_indptr": np.cumsum([0] + [len(c) for c, _ in pairs]).astype(np.int32),
        "features_csr_indices": np.concatenate([np.asarray(c) for c, _ in pairs]).astype(np.int32),
        "features_csr_data": np.concatenate(values).astype(np.float32),
        "features_csr_shape": np.array([len(lists), width]),
    }


def split(n):
    """The 60/20/20 split that the folders without a public one have."""
    order = np.random.RandomState(0).permutation(n)
    a, b = n * 6 // 10, n * 8 // 10
    return {k: np.sort(v).astype(np.int32) for k, v in (("train", order[:a]), ("val", order[a:b]), ("test", order[b:]))}


def pubmed(src):
    read = lambda name: np.load(os.path.join(src, name + ".npy"))
    at, ptr = read("partial_features_vertices"), read("partial_features_csr_indptr")
    columns, values = read("partial_features_csr_indices"), read("partial_features_csr_data")
    lists = [([], np.zeros(0))] * len(read("labels"))
    for k, v in enumerate(at):
        lists[v] = (columns[ptr[k] : ptr[k + 1]], values[ptr[k] : ptr[k + 1]])
    return {k: read(k) for k in ("edges", "labels", "train", "val", "test")} | rows(lists, 500)


def twitch(src, raw):
    edges = np.load(os.path.join(src, "edges.npy"))
    n = int(edges.max()) + 1
    labels = np.zeros(n, np.int32)
    with open(os.path.join(raw, "DE_target.csv")) as f:
        for line in f.read().splitlines()[1:]:
            cells = line.split(",")
            labels[int(cells[5])] = cells[2] == "True"
    with open(os.path.join(raw, "DE.json")) as f:
        games = {int(k): v for k, v in json.load(f).items()}
    return {"edges": edges, "labels": labels} | split(n) | rows([games[v] for v in range(n)], 1 + max(max(v, default=0) for v in games.values()))


def email(src, raw):
    labels = np.loadtxt(os.path.join(raw, "email-Eu-core-department-labels.txt"), dtype=np.int32)
    labels = labels[np.argsort(labels[:, 0]), 1]
    return {"edges": np.load(os.path.join(src, "edges.npy")), "labels": labels} | split(len(labels))


def degree40():
    """5,000 vertices of 8 classes, 200,000 edges of which 40 % stay in their class, features of a class's mean and noise."""
    rng, n, classes = np.random.RandomState(0), 5000, 8
    labels = rng.randint(classes, size=n)
    members = [np.flatnonzero(labels == c) for c in range(classes)]
    src = rng.randint(n, size=20 * n)
    inside = np.array([rng.choice(members[c]) for c in labels[src]])
    dst = np.where(rng.rand(20 * n) < 0.4, inside, rng.randint(n, size=20 * n))
    dst = np.where(src == dst, (dst + 1) % n, dst)
    edges = np.concatenate([np.stack([src, dst]), np.stack([dst, src])], 1)
    x = rng.randn(classes, 64)[labels] * 0.3 + rng.randn(n, 64)
    return {"edges": edges.astype(np.int32), "labels": labels.astype(np.int32), "features": x.astype(np.float32)} | split(n)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("out")
    args.add_argument("--data", help="folder that holds data/; default $SAGANN_DATA or ../shared beside the module")
    args.add_argument("--raw", help="folder of the downloaded files")
    a = args.parse_args()
    src, out = os.path.join(graphs.data_root(a.data), "data"), os.path.join(a.out, "data")
    os.makedirs(out)
    write(os.path.join(out, "pubmed"), **pubmed(os.path.join(src, "pubmed")))
    write(os.path.join(out, "degree40"), **degree40())
    if a.raw:
        write(os.path.join(out, "twitch_de"), **twitch(os.path.join(src, "twitch_de"), a.raw))
        write(os.path.join(out, "email_eu_core"), **email(os.path.join(src, "email_eu_core"), a.raw))
    for name in ("cora", "citeseer", "blogcatalog", "proteins_full"):
        os.symlink(os.path.abspath(os.path.join(src, name)), os.path.join(out, name))


if __name__ == "__main__":
    main()

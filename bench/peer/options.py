"""The command line of epoch.py, kept free of torch so that the parent process starts at once."""

import argparse

PATHS = "edge_index,edge_index_class,csr_torch_sparse,csr_torch,compiled_edge_index"
NUMBERS = {"vertices": 50000, "edges": 2000000, "features": 128, "hidden": 64, "classes": 16, "threads": 2,
           "epochs": 10, "warmup": 3, "seed": 1}


def parse(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in NUMBERS.items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--model", default="gcn", choices=["gcn", "resgated", "commnet", "sage", "gat", "ggnn", "pna"])
    p.add_argument("--graph", help="folder of edges.npy, features.npy, labels.npy, train.npy")
    p.add_argument("--write-graph", help="write the generated graph to this folder first, for other programs to read")
    p.add_argument("--paths", default=PATHS, help="comma-separated; default " + PATHS)
    p.add_argument("--limit", type=float, default=900, help="seconds that one path may take in all")
    p.add_argument("--malloc", default="both", choices=["default", "keep", "both"],
                   help="keep: glibc keeps freed blocks for the next epoch instead of returning them; both: time both")
    p.add_argument("--path", help=argparse.SUPPRESS)
    return p.parse_args()


def same(a):
    """The arguments that reproduce a in a child process."""
    out = [w for name in NUMBERS for w in ("--" + name, str(getattr(a, name)))] + ["--model", a.model]
    return out + (["--graph", a.graph] if a.graph else [])

"""Trains sagann on a PyG Data object, and takes predictions, embeddings and weights back.

    python examples/python/train.py [FOLDER]

The command saga must be on PATH. Needs numpy, torch, torch_geometric and safetensors. The
files lie in FOLDER, or in a temporary folder.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.utils import to_undirected


def graph(vertices=600, classes=3):
    """A Data object: edges mostly inside classes, features that say little by themselves."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, classes, vertices)
    a, b = rng.integers(0, vertices, (2, 12 * vertices))
    keep = (a != b) & ((y[a] == y[b]) | (rng.random(len(a)) < 0.15))
    x = rng.normal(size=(vertices, 8)) + np.eye(classes, 8)[y]
    part = rng.permutation(vertices)
    return Data(
        x=torch.tensor(x, dtype=torch.float32),
        edge_index=to_undirected(torch.tensor(np.stack([a[keep], b[keep]]))),
        y=torch.tensor(y),
        train_mask=torch.tensor(part < 0.3 * vertices),
        val_mask=torch.tensor((part >= 0.3 * vertices) & (part < 0.5 * vertices)),
        test_mask=torch.tensor(part >= 0.5 * vertices),
    )


def saga(*args):
    """Runs the command; its output goes to the screen."""
    subprocess.run(["saga", *map(str, args)], check=True)


class Net(torch.nn.Module):
    """What `saga train` trains, in PyG: two layers with an activation between them."""

    def __init__(self, model, columns, classes, hidden=16):
        super().__init__()
        if model == "gat":  # 8 heads side by side, then one
            self.convs = torch.nn.ModuleList([GATConv(columns, hidden, heads=8), GATConv(8 * hidden, classes)])
        else:
            conv = {"gcn": GCNConv, "sage": SAGEConv}[model]
            self.convs = torch.nn.ModuleList([conv(columns, hidden), conv(hidden, classes)])
        self.act = torch.nn.ELU() if model == "gat" else torch.nn.ReLU()

    def forward(self, x, edge_index):
        first, second = self.convs
        return second(self.act(first(x, edge_index)), edge_index)

    def load(self, checkpoint):
        """Takes the weights of a checkpoint: W is [in, out], torch keeps it as [out, in]."""
        w = load_file(checkpoint)
        for i, conv in enumerate(self.convs, 1):
            of = {k.removeprefix(f"layer{i}."): v for k, v in w.items() if k.startswith(f"layer{i}.")}
            if isinstance(conv, SAGEConv):
                pairs = [(conv.lin_l.weight, of["W_neigh"].T), (conv.lin_l.bias, of["b"]), (conv.lin_r.weight, of["W_self"].T)]
            else:
                pairs = [(conv.lin.weight, of["W"].T), (conv.bias, of["b"])]
            if isinstance(conv, GATConv):
                pairs += [(conv.att_src, of["a_src"]), (conv.att_dst, of["a_dst"])]
            with torch.no_grad():
                for theirs, ours in pairs:
                    theirs.copy_(ours.reshape(theirs.shape))


def main(folder):
    data = graph()
    y, test = data.y.numpy(), data.test_mask.numpy()

    # The Data object as an .npz, by PyG's own names.
    arrays = {k: v.numpy() for k, v in data.to_dict().items() if torch.is_tensor(v)}
    np.savez(folder / "graph.npz", **arrays)

    for model in "gcn", "sage", "gat":
        # Train; then classes, logits and embeddings as arrays.
        run = folder / model
        saga("train", "--data", folder / "graph.npz", "--model", model, "--hidden", 16, "--epochs", 60, "--out", run)
        saga("predict", run, "--out", folder / "classes.npy")
        saga("predict", run, "--write", "logits", "--out", folder / "logits.npy")
        saga("embed", run, "--out", folder / "rows.npy")
        classes, logits, rows = (np.load(folder / name) for name in ("classes.npy", "logits.npy", "rows.npy"))
        accuracy = (classes == y)[test].mean()

        # The weights in torch: the same model gives the same logits.
        net = Net(model, data.num_features, logits.shape[1])
        net.load(run / "checkpoint.safetensors")
        with torch.no_grad():
            theirs = net(data.x, data.edge_index).numpy()
        far = np.abs(theirs - logits).max()
        print(f"{model}: embeddings {rows.shape}, test accuracy {accuracy:.4f}, largest difference of logits {far:.2g}")
        assert accuracy > 0.85 and far < 1e-4 * max(1, np.abs(logits).max())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))

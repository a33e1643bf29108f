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
from torch_geometric.nn import GCNConv
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


class GCN(torch.nn.Module):
    """The model that `saga train --model gcn` trains, in PyG."""

    def __init__(self, columns, hidden, classes):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(columns, hidden), GCNConv(hidden, classes)

    def forward(self, x, edge_index):
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index)

    def load(self, checkpoint):
        """Takes the weights of a checkpoint: W is [in, out], torch keeps it as [out, in]."""
        w = load_file(checkpoint)
        with torch.no_grad():
            for name, conv in (("layer1", self.conv1), ("layer2", self.conv2)):
                conv.lin.weight.copy_(w[name + ".W"].T)
                conv.bias.copy_(w[name + ".b"].flatten())


def main(folder):
    data = graph()

    # The Data object as an .npz, by PyG's own names.
    arrays = {k: v.numpy() for k, v in data.to_dict().items() if torch.is_tensor(v)}
    np.savez(folder / "graph.npz", **arrays)

    # Train; then classes, logits and embeddings as arrays.
    run = folder / "run"
    saga("train", "--data", folder / "graph.npz", "--model", "gcn", "--hidden", 16, "--epochs", 100, "--out", run)
    saga("predict", run, "--out", folder / "classes.npy")
    saga("predict", run, "--write", "logits", "--out", folder / "logits.npy")
    saga("embed", run, "--out", folder / "rows.npy")
    classes, logits, rows = (np.load(folder / name) for name in ("classes.npy", "logits.npy", "rows.npy"))
    test = data.test_mask.numpy()
    print(f"embeddings {rows.shape}, test accuracy {(classes == data.y.numpy())[test].mean():.4f}")

    # The weights in torch: the same model gives the same logits.
    model = GCN(data.num_features, 16, logits.shape[1])
    model.load(run / "checkpoint.safetensors")
    with torch.no_grad():
        theirs = model(data.x, data.edge_index).numpy()
    print(f"largest difference of logits {np.abs(theirs - logits).max():.2g}")
    assert np.allclose(theirs, logits, rtol=1e-4, atol=1e-4)
    assert (classes == data.y.numpy())[test].mean() > 0.9


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))

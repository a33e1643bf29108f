"""Reference values of learned rows: GCN over rows that are learned, over the identity and over sparse rows,
trained with PyTorch's autograd in float64.

usage: python3 rows.py > ../../saga/testdata/rows.json
"""
import json

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(7)
V, E, CLASSES, HIDDEN, WIDTH, COLUMNS, STEPS = 14, 50, 3, 6, 5, 20, 5
pairs = sorted({(int(a), int(b)) for a, b in torch.randint(0, V, (E, 2)) if a != b})
src, dst = [p[0] for p in pairs], [p[1] for p in pairs]
labels = torch.randint(0, CLASSES, (V,))
train = list(range(0, V, 2))

adj = torch.zeros(V, V)  # row: destination
for s, d in pairs:
    adj[d, s] += 1
adj += torch.eye(V)
scale = adj.sum(1) ** -0.5
adj = scale[:, None] * adj * scale[None, :]


def short(*shape):
    """Numbers that float32 holds exactly."""
    return (torch.rand(*shape) - 0.5).float().double()


def run(first, features):
    params = {k: v.clone().requires_grad_() for k, v in first.items()}
    step = torch.optim.Adam(params.values(), lr=0.01)
    losses = []
    for _ in range(STEPS):
        x = params["embedding"] if features is None else features
        h = torch.relu(adj @ x @ params["layer1.W"])
        loss = torch.nn.functional.cross_entropy((adj @ h @ params["layer2.W"])[train], labels[train])
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(loss.item())
    flat = lambda list: {k: v.detach().flatten().tolist() for k, v in list.items()}
    return {"first": flat(first), "losses": losses, "last": flat(params)}


sparse = short(V, COLUMNS) * (torch.rand(V, COLUMNS) < 0.15)
out = {"vertices": V, "classes": CLASSES, "hidden": HIDDEN, "width": WIDTH, "columns": COLUMNS, "src": src, "dst": dst,
       "labels": labels.tolist(), "train": train, "sparse": sparse.flatten().tolist(),
       "runs": {
           "embedding": run({"embedding": short(V, WIDTH), "layer1.W": short(WIDTH, HIDDEN), "layer2.W": short(HIDDEN, CLASSES)}, None),
           "identity": run({"layer1.W": short(V, HIDDEN), "layer2.W": short(HIDDEN, CLASSES)}, torch.eye(V)),
           "sparse": run({"layer1.W": short(COLUMNS, HIDDEN), "layer2.W": short(HIDDEN, CLASSES)}, sparse)}}
print(json.dumps(out))

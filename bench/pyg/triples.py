"""Links of a knowledge graph by PyTorch Geometric's RGCNConv and by sagann: filtered mean reciprocal ranks of the test split.

    python bench/pyg/triples.py SAGA FOLDER OUT [EPOCHS] [SEEDS]

SAGA is the command, FOLDER has train, valid and test.txt with head, relation and tail on each line (WN18RR), OUT is a folder for the graph and runs. Both sides:
learned rows of 64 columns, uniform within ±√(3/64) at first, one RGCNConv to 64 columns (mean by relation, root weight, bias) over training edges and their
reverses, DistMult with a vector of ones for each relation at first, cross-entropy over the training edges and as many pairs without an edge,
drawn anew in every epoch, Adam at rate 0.05, 80 epochs. Every test edge is ranked among those with another head, and another tail, of all entities, without known edges;
equal scores share their mean rank. Needs torch and torch_geometric.
"""
import json
import subprocess
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.nn import RGCNConv

WIDTH, RATE = 64, 0.05


def read(folder):
    parts = {}
    for name, file in (("train", "train.txt"), ("val", "valid.txt"), ("test", "test.txt")):
        parts[name] = [line.split("\t") for line in (folder / file).read_text().split("\n") if line]
    ids = {x: k for k, x in enumerate(sorted({e for p in parts.values() for h, _, t in p for e in (h, t)}))}
    rel = {x: k for k, x in enumerate(sorted({r for p in parts.values() for _, r, _ in p}))}
    return parts, ids, rel, {n: torch.tensor([(ids[h], rel[r], ids[t]) for h, r, t in p]) for n, p in parts.items()}


def messages(triples):
    """What passes messages: training edges, and the reverses of edges that have none in the whole graph, as --undirected adds them."""
    every = torch.cat(list(triples.values()))
    there = {(h, t) for h, _, t in every.tolist()}
    train = set(map(tuple, triples["train"].tolist()))
    out = [(h, r, t) for h, r, t in triples["train"].tolist()]
    out += [(t, r, h) for h, r, t in triples["train"].tolist() if (t, h) not in there]
    out += [(h, r, t) for n in ("val", "test") for h, r, t in triples[n].tolist() if h == t or (t, r, h) in train]
    return torch.tensor(out)


class Net(torch.nn.Module):
    def __init__(self, entities, relations):
        super().__init__()
        self.rows = torch.nn.Embedding(entities, WIDTH)
        torch.nn.init.uniform_(self.rows.weight, -((3 / WIDTH) ** 0.5), (3 / WIDTH) ** 0.5)
        self.conv = RGCNConv(WIDTH, WIDTH, relations)
        self.r = torch.nn.Parameter(torch.ones(relations, WIDTH))

    def forward(self, edge_index, edge_type):
        return self.conv(self.rows.weight, edge_index, edge_type)

    def score(self, z, t):
        return (z[t[:, 0]] * self.r[t[:, 1]] * z[t[:, 2]]).sum(1)


def theirs(triples, entities, relations, epochs, seed):
    torch.manual_seed(seed)
    m = messages(triples)
    index, kind = torch.stack((m[:, 0], m[:, 2])), m[:, 1]
    net = Net(entities, relations)
    opt = torch.optim.Adam(net.parameters(), lr=RATE)
    train = triples["train"][triples["train"][:, 0] != triples["train"][:, 2]]
    every = torch.cat(list(triples.values()))
    known = torch.cat((every[:, 0] * entities + every[:, 2], every[:, 2] * entities + every[:, 0])).unique()
    for _ in range(epochs):
        pair = torch.randint(entities, (2 * len(train), 2))
        keys = pair[:, 0] * entities + pair[:, 1]
        pair = pair[(known[torch.searchsorted(known, keys).clamp(max=len(known) - 1)] != keys) & (pair[:, 0] != pair[:, 1])][:len(train)]
        negative = torch.stack((pair[:, 0], train[:, 1], pair[:, 1]), 1)
        opt.zero_grad()
        s = net.score(net(index, kind), torch.cat((train, negative)))
        F.binary_cross_entropy_with_logits(s, torch.cat((torch.ones(len(train)), torch.zeros(len(train))))).backward()
        opt.step()
    with torch.no_grad():
        return ranking(net, net(index, kind), triples)


def ranking(net, z, triples):
    known = [{}, {}]
    for h, r, t in torch.cat(list(triples.values())).tolist():
        known[0].setdefault((t, r), []).append(h)
        known[1].setdefault((h, r), []).append(t)
    ranks = []
    for h, r, t in triples["test"].tolist():
        if h == t:
            continue
        for end, (is_, own) in enumerate(((h, t), (t, h))):
            s = z @ (z[own] * net.r[r])
            mine = s[is_].item()
            s[known[end][own, r]] = -torch.inf
            ranks.append(1 + (s > mine).sum().item() + (s == mine).sum().item() / 2)
    x = torch.tensor(ranks, dtype=torch.float64)
    return [(1 / x).mean().item(), *((x <= k).double().mean().item() for k in (1, 3, 10))]


def ours(saga, folder, out, parts, epochs, seed):
    table, store, run = out / "triples.csv", out / "triples.saga", out / f"run{seed}"
    if not store.exists():
        table.write_text("source,relation,target\n" + "".join(f"{h},{r},{t}\n" for p in parts.values() for h, r, t in p))
        subprocess.run([saga, "data", "convert", "--edges", table, "--edge-type", "relation", "--undirected", "--out", store], check=True, stdout=subprocess.DEVNULL)
    if not (run / "report.html").exists():
        subprocess.run([saga, "train", "--data", store, "--task", "link", "--relation", "all", "--head", "distmult", "--model", "rgcn", "--features", f"embedding:{WIDTH}",
                        "--layers", "1", "--width", str(WIDTH), "--split", folder, "--lr", str(RATE), "--epochs", str(epochs), "--eval-every", str(epochs),
                        "--seed", str(seed), "--out", run], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([saga, "evaluate", run, "--ranking", "--json"], check=True, capture_output=True, text=True).stdout
    x = json.loads(text.splitlines()[-1])
    return [x["ranked_mrr"], *(x[f"ranked_hits@{k}"] for k in (1, 3, 10))]


def main():
    saga, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    epochs, seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 80, int(sys.argv[5]) if len(sys.argv) > 5 else 3
    out.mkdir(exist_ok=True)
    parts, ids, rel, triples = read(folder)
    for seed in range(1, seeds + 1):
        for side, x in (("PyG", lambda: theirs(triples, len(ids), len(rel), epochs, seed)), ("saga", lambda: ours(saga, folder, out, parts, epochs, seed))):
            print(seed, side, "MRR {:.4f}  Hits@1 {:.4f}  @3 {:.4f}  @10 {:.4f}".format(*x()), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

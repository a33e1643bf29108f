"""Golden values of models over several vertex types and relations, in float64 by PyTorch's autograd.

python hetero.py > ../../layers/testdata/hetero.json

The formulas are written out here; nothing of PyTorch Geometric is used.
"""
import json
import torch

torch.manual_seed(7)
F = torch.float64
TYPES = {"author": (13, 5), "lonely": (3, 2), "paper": (11, 4), "venue": (5, 3)}
RELATIONS = [("author", "knows", "author", 30), ("author", "reviews", "paper", 12), ("author", "writes", "paper", 29),
             ("paper", "cites", "paper", 25), ("paper", "in", "venue", 11), ("paper", "rev_writes", "author", 29),
             ("venue", "rev_in", "paper", 9)]
HIDDEN, CLASSES, TARGET, HEADS = 6, 3, "paper", 2


def single(x):
    return x.to(torch.float32).to(F)


xs = {t: single(torch.randn(v, c, dtype=F)) for t, (v, c) in TYPES.items()}
edges = {}
for s, n, d, e in RELATIONS:
    edges[n] = torch.stack([torch.randint(TYPES[s][0], (e,)), torch.randint(TYPES[d][0], (e,))])
labels = torch.randint(CLASSES, (TYPES[TARGET][0],))
train = [0, 1, 2, 4, 5, 7, 9]


class Parameters:
    def __init__(self):
        self.all = {}

    def __call__(self, name, *shape):
        if name not in self.all:
            self.all[name] = single(torch.randn(*shape, dtype=F) * 0.6).requires_grad_()
        return self.all[name]


def with_loops(s, d, e):
    """The edges with a self loop for each vertex that has none, within a type."""
    if s != d:
        return e
    has = set(e[0][e[0] == e[1]].tolist())
    more = [v for v in range(TYPES[s][0]) if v not in has]
    return torch.cat([e, torch.tensor([more, more], dtype=e.dtype)], 1)


def total(m, dst, n):
    return torch.zeros(n, m.shape[1], dtype=F).index_add(0, dst, m)


def degree(ids, n):
    return torch.zeros(n, dtype=F).index_add(0, ids, torch.ones(len(ids), dtype=F))


def mean(m, dst, n):
    return total(m, dst, n) / degree(dst, n).clamp(min=1)[:, None]


def softmax(s, dst, n):
    e = torch.exp(s)
    return e / total(e, dst, n)[dst]


def per_relation(conv, act=torch.relu, loops=False):
    """conv for each relation, and act of their sum."""

    def layer(p, x, k, out, last):
        y = {}
        for s, n, d, _ in RELATIONS:
            e = with_loops(s, d, edges[n]) if loops else edges[n]
            r = conv(p, f"layer{k}.{n}", x[s], x[d], e, s == d, out, last)
            y[d] = y[d] + r if d in y else r
        return y if last else {t: act(v) for t, v in y.items()}
    return layer


def sage(p, n, xs, xd, e, _, out, last):
    a = mean(xs[e[0]], e[1], len(xd))
    return xd @ p(n + ".W_self", xd.shape[1], out) + a @ p(n + ".W_neigh", xs.shape[1], out) + p(n + ".b", 1, out)


def gcn(p, n, xs, xd, e, within, out, last):
    into = degree(e[1], len(xd))
    of = into if within else degree(e[0], len(xs))
    w = 1 / torch.sqrt(of[e[0]] * into[e[1]])
    return total(w[:, None] * xs[e[0]], e[1], len(xd)) @ p(n + ".W", xs.shape[1], out)


def gat(p, n, xs, xd, e, within, out, last):
    width = out if last else out // HEADS
    heads = HEADS
    w = p(n + ".W", xs.shape[1], heads * width)
    hs = xs @ w
    hd = xd @ (w if within else p(n + ".W_dst", xd.shape[1], heads * width))
    score = lambda h, a: (h * p(n + a, 1, heads * width)).view(-1, heads, width).sum(2)
    s = torch.nn.functional.leaky_relu(score(hs, ".a_src")[e[0]] + score(hd, ".a_dst")[e[1]], 0.2)
    a = softmax(s, e[1], len(xd))
    y = total((hs[e[0]].view(-1, heads, width) * a[:, :, None]).reshape(-1, heads * width), e[1], len(xd))
    return y.view(-1, heads, width).mean(1) if last else y


def rgcn(p, x, k, out, last):
    y = {}
    for s, n, d, _ in RELATIONS:
        e = edges[n]
        r = mean((x[s] @ p(f"layer{k}.{n}.W", x[s].shape[1], out))[e[0]], e[1], len(x[d]))
        y[d] = y[d] + r if d in y else r
    for t in y:
        y[t] = y[t] + x[t] @ p(f"layer{k}.{t}.W_root", x[t].shape[1], out) + p(f"layer{k}.{t}.b", 1, out)
        if not last:
            y[t] = torch.relu(y[t])
    return y


def hgt(p, x, k, out, last):
    heads, scores, messages, ends = HEADS, {}, {}, {}
    width = out // heads if out % heads == 0 else out
    if last:
        heads, width = 1, out
    linear = lambda t, name: x[t] @ p(f"layer{k}.{t}.{name}", x[t].shape[1], out) + p(f"layer{k}.{t}.b_{name}", 1, out)
    for s, n, d, _ in RELATIONS:
        e, q = edges[n], f"layer{k}.{n}"
        head = lambda h, name: torch.stack([h[:, i * width:(i + 1) * width] @ p(f"{q}{name}.{i}", width, width) for i in range(heads)], 1)
        key, value, query = head(linear(s, "K"), ".K_rel"), head(linear(s, "V"), ".V_rel"), linear(d, "Q").view(-1, heads, width)
        sc = (key[e[0]] * query[e[1]]).sum(2) * p(q + ".prior", 1, heads) / width ** 0.5
        scores.setdefault(d, []).append(sc)
        messages.setdefault(d, []).append(value[e[0]])
        ends.setdefault(d, []).append(e[1])
    y = {}
    for d in scores:
        dst = torch.cat(ends[d])
        a = softmax(torch.cat(scores[d]), dst, len(x[d]))
        m = torch.cat(messages[d]) * a[:, :, None]
        g = total(m.reshape(-1, out), dst, len(x[d]))
        z = torch.nn.functional.gelu(g) @ p(f"layer{k}.{d}.A", out, out) + p(f"layer{k}.{d}.b", 1, out)
        if x[d].shape[1] == out:
            s = torch.sigmoid(p(f"layer{k}.{d}.skip", 1, 1))
            z = s * z + (1 - s) * x[d]
        y[d] = z
    return y


def rgcn_bases(p, x, k, out, last):
    y = {}
    for s, n, d, _ in RELATIONS:
        w = sum(p(f"layer{k}.{n}.a.{b}", 1, 1) * p(f"layer{k}.{s}.V.{b}", x[s].shape[1], out) for b in range(2))
        r = mean((x[s] @ w)[edges[n][0]], edges[n][1], len(x[d]))
        y[d] = y[d] + r if d in y else r
    return rooted(p, x, y, k, out, last)


def rgcn_blocks(p, x, k, out, last):
    blocks, y = 3 if last else 2, {}
    for s, n, d, _ in RELATIONS:
        c = x[s].shape[1] // blocks
        w = torch.block_diag(*[p(f"layer{k}.{n}.W.{b}", c, out // blocks) for b in range(blocks)])
        r = mean((x[s] @ w)[edges[n][0]], edges[n][1], len(x[d]))
        y[d] = y[d] + r if d in y else r
    return rooted(p, x, y, k, out, last)


def rooted(p, x, y, k, out, last):
    for t in y:
        y[t] = y[t] + x[t] @ p(f"layer{k}.{t}.W_root", x[t].shape[1], out) + p(f"layer{k}.{t}.b", 1, out)
        if not last:
            y[t] = torch.relu(y[t])
    return y


def han(p, x, k, out, last):
    heads, each = (1 if last else HEADS), {}
    h = lambda t: x[t] @ p(f"layer{k}.{t}.W", x[t].shape[1], out) + p(f"layer{k}.{t}.b", 1, out)
    for s, n, d, _ in RELATIONS:
        e, hs, hd = edges[n], h(s), h(d)
        score = lambda v, a: (v * p(f"layer{k}.{n}{a}", 1, out)).view(-1, heads, out // heads).sum(2)
        a = softmax(torch.nn.functional.leaky_relu(score(hs, ".a_src")[e[0]] + score(hd, ".a_dst")[e[1]], 0.2), e[1], len(x[d]))
        m = (hs[e[0]].view(-1, heads, out // heads) * a[:, :, None]).reshape(-1, out)
        each.setdefault(d, []).append(torch.relu(total(m, e[1], len(x[d]))))
    y = {}
    for d, zs in each.items():
        w = torch.stack([torch.tanh(z @ p(f"layer{k}.K", out, out) + p(f"layer{k}.b_K", 1, out)).mean(0) @ p(f"layer{k}.q", out, 1) for z in zs]).softmax(0)
        y[d] = sum(z * b for z, b in zip(zs, w))
        if not last:
            y[d] = torch.tanh(y[d])
    return y


def gin(p, n, xs, xd, e, _, out, last):
    s = (1 + p(n + ".eps", 1, 1)) * xd + total(xs[e[0]], e[1], len(xd))
    return torch.relu(s @ p(n + ".W1", s.shape[1], 5) + p(n + ".b1", 1, 5)) @ p(n + ".W2", 5, out) + p(n + ".b2", 1, out)


def gatv2(p, n, xs, xd, e, _, out, last):
    width, heads = out if last else out // HEADS, HEADS
    h = xs @ p(n + ".W_src", xs.shape[1], heads * width) + p(n + ".b_src", 1, heads * width)
    g = xd @ p(n + ".W_dst", xd.shape[1], heads * width) + p(n + ".b_dst", 1, heads * width)
    s = (torch.nn.functional.leaky_relu(h[e[0]] + g[e[1]], 0.2) * p(n + ".a", 1, heads * width)).view(-1, heads, width).sum(2)
    a = softmax(s, e[1], len(xd))
    y = total((h[e[0]].view(-1, heads, width) * a[:, :, None]).reshape(-1, heads * width), e[1], len(xd))
    return y.view(-1, heads, width).mean(1) + p(n + ".b", 1, width) if last else y + p(n + ".b", 1, heads * width)


def behind_linear(layer):
    """layer, the first of a model whose types are first brought to 4 columns each."""

    def both(p, x, k, out, last):
        if k == 1:
            x = {t: v @ p(f"layer1.{t}.W", v.shape[1], 4) + p(f"layer1.{t}.b", 1, 4) for t, v in x.items() if t != "lonely"}
        return layer(p, x, k + 1, out, last)
    return both


def sage_norm(p, x, k, out, last):
    """x' = relu(norm(the sum over relations)) + x·R in hidden layers."""
    y = per_relation(sage, lambda v: v)(p, x, k, out, last)
    if last:
        return y
    for t, v in y.items():
        n = f"layer{k}.{t}."
        v = (v - v.mean(1, keepdim=True)) / torch.sqrt(v.var(1, unbiased=False, keepdim=True) + 1e-5)
        y[t] = torch.relu(v * p(n + "norm.g", 1, out) + p(n + "norm.b", 1, out)) + x[t] @ p(n + "R", x[t].shape[1], out)
    return y


elu = torch.nn.functional.elu
MODELS = {"rgcn": rgcn, "sage": per_relation(sage), "gcn": per_relation(gcn, loops=True), "gat": per_relation(gat, elu, True), "hgt": hgt,
          "rgcn-bases": rgcn_bases, "rgcn-blocks": behind_linear(rgcn_blocks), "han": han, "gin": behind_linear(per_relation(gin)), "gatv2": per_relation(gatv2, elu), "sage-norm": sage_norm}


def run(layer, seed):
    torch.manual_seed(seed)  # so that models do not move the draws of others
    p, x = Parameters(), dict(xs)
    x = layer(p, x, 1, HIDDEN, False)
    x = layer(p, {**x}, 2, CLASSES, True) if len(x) == 3 else None
    z = x[TARGET]
    loss = torch.nn.functional.cross_entropy(z[train], labels[train])
    loss.backward()
    used = {n: w for n, w in p.all.items() if w.grad is not None}
    return {"logits": z.tolist(), "loss": loss.item(), "params": {n: w.tolist() for n, w in used.items()},
            "grads": {n: w.grad.tolist() for n, w in used.items()}}


json.dump({"types": {t: x.tolist() for t, x in xs.items()},
           "relations": [{"src": s, "name": n, "dst": d, "edges": edges[n].tolist()} for s, n, d, _ in RELATIONS],
           "target": TARGET, "classes": CLASSES, "labels": labels.tolist(), "train": train,
           "models": {n: run(f, k) for k, (n, f) in enumerate(MODELS.items())}}, open("/dev/stdout", "w"))

"""The layer formulas in plain torch: what the engine's layers are compared with.

Every layer is a function f(p, x, g, i, o, last): p declares or finds parameters by name,
x is the input (a dense tensor V x i, or a Sparse for the first layer), g an Edges, and the
result is V x o. Linear gathers multiply first and gather afterwards, which is the same
sum in another order. check.py compares each with the reference values of golden/.
"""

import torch
import torch.nn.functional as F

from graphs import csr, pointers


class _Rows(torch.autograd.Function):
    """Vertex rows to edge rows; the gradient is a sum over the edges of a vertex (one sparse product)."""

    @staticmethod
    def forward(ctx, x, index, sums):
        ctx.sums = sums
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx, dy):
        return ctx.sums(dy), None, None


class _Sum(torch.autograd.Function):
    """Edge rows summed into vertex rows; the gradient reads the vertex row back."""

    @staticmethod
    def forward(ctx, m, index, sums):
        ctx.index = index
        return sums(m)

    @staticmethod
    def backward(ctx, dy):
        return dy.index_select(0, ctx.index), None, None


class _Product(torch.autograd.Function):
    """A constant sparse matrix times a dense one, with the transpose at hand for the gradient."""

    @staticmethod
    def forward(ctx, w, a, a_t):
        ctx.a_t = a_t
        return a @ w

    @staticmethod
    def backward(ctx, dy):
        return ctx.a_t @ dy.contiguous(), None, None


class Sparse:
    """A constant sparse V x F input with the values of this step (dropout replaces them)."""

    def __init__(self, csr, values=None):
        self.csr = csr
        self.values = csr.values if values is None else values

    def dropout(self, rate, training):
        return Sparse(self.csr, F.dropout(self.csr.values, rate, training)) if training else self

    def __matmul__(self, w):
        return _Product.apply(w, self.csr.forward(self.values), self.csr.transposed(self.values))

    def entries(self, g):
        """For each edge (u, v) and non-zero (u, f): its place in values, u*F+f and v*F+f."""
        if self.csr.on_edges is None or self.csr.on_edges[0] is not g:
            c, width = self.csr, self.csr.shape[1]
            count = c.indptr.diff()[g.src]
            edge = torch.repeat_interleave(torch.arange(g.e), count)
            within = torch.arange(len(edge)) - (count.cumsum(0) - count)[edge]
            entry = c.indptr[g.src][edge] + within
            f = c.indices[entry]
            c.on_edges = (g, (entry, g.src[edge] * width + f, g.dst[edge] * width + f))
        return self.csr.on_edges[1]


class Edges:
    """A directed graph with edges sorted by destination, weights optional (1 when absent)."""

    def __init__(self, edges, vertices, weight=None, dtype=torch.float32):
        self.src, self.dst = edges
        self.v, self.e = vertices, edges.shape[1]
        self.weight = torch.ones(self.e, dtype=dtype) if weight is None else weight
        self.out_order = torch.argsort(self.src, stable=True)
        in_ptr, out_ptr = pointers(self.dst, vertices), pointers(self.src, vertices)
        self.degree = torch.bincount(self.dst, minlength=vertices).to(dtype)
        one, ids = torch.ones(self.e, dtype=dtype), torch.arange(self.e)
        order = self.out_order
        self._in = csr(in_ptr, ids, one, (vertices, self.e))
        self._out = csr(out_ptr, order, one, (vertices, self.e))
        self._adj = csr(in_ptr, self.src, self.weight, (vertices, vertices))
        self._adj_t = csr(out_ptr, self.dst[order], self.weight[order], (vertices, vertices))

    def at_src(self, x):
        return _Rows.apply(x, self.src, lambda m: self._out @ m.contiguous())

    def at_dst(self, x):
        return _Rows.apply(x, self.dst, lambda m: self._in @ m.contiguous())

    def sum(self, m):
        return _Sum.apply(m, self.dst, lambda e: self._in @ e.contiguous())

    def neighbours(self, x):
        """sum over in-edges of weight * x_src."""
        return _Product.apply(x, self._adj, self._adj_t)

    def max(self, m):
        """Maximum of edge rows over in-edges, 0 where there are none."""
        top = torch.full((self.v, m.shape[1]), -torch.inf, dtype=m.dtype)
        top = top.scatter_reduce(0, self.dst[:, None].expand_as(m), m, "amax")
        return torch.where(torch.isinf(top), torch.zeros_like(top), top)


def by_columns(f, *xs, block=64):
    """f over blocks of columns of xs, side by side: the same values, with edge tensors that fit in cache."""
    width = xs[0].shape[1]
    if width <= 2 * block:
        return f(*xs)
    return torch.cat([f(*ys) for ys in zip(*(x.split(block, 1) for x in xs))], 1)


def with_loops(edges, vertices):
    """edges plus one self loop a vertex, sorted by (destination, source); existing loops are dropped first."""
    e = edges[:, edges[0] != edges[1]]
    e = torch.cat([e, torch.arange(vertices).repeat(2, 1)], 1)
    return e[:, torch.argsort(e[1] * vertices + e[0])]


def symmetric(edges, vertices):
    """GCN's weights 1/sqrt(d_u d_v), d the in-degree of edges (self loops already there)."""
    d = torch.bincount(edges[1], minlength=vertices).float().rsqrt()
    return d[edges[0]] * d[edges[1]]


def gcn(p, x, g, i, o, last):
    z = g.neighbours(x @ p("W", i, o))
    return z if last else F.relu(z)


def commnet(p, x, g, i, o, last):
    z = x @ p("W_H", i, o) + g.neighbours(x @ p("W_C", i, o))
    return z if last else F.relu(z)


def mpgcn(p, x, g, i, o, last):
    # Pooling each vertex once and scattering the result is the same as pooling on the edge.
    a = by_columns(lambda h: g.max(g.at_src(h)), F.relu(x @ p("W_pool", i, i) + p("b", i)))
    w = p("W", 2 * i, o)
    z = x @ w[:i] + a @ w[i:]
    return z if last else F.relu(z)


def ggcn(p, x, g, i, o, last):
    h, c = x @ p("W_H", i, i), x @ p("W_C", i, i)
    if isinstance(x, Sparse):
        # Where x_u is 0 the gate changes nothing: only edges times non-zeros of x_u are left.
        entry, at_u, at_v = x.entries(g)
        gate = torch.sigmoid(h.view(-1).index_select(0, at_u) + c.view(-1).index_select(0, at_v))
        a = torch.zeros(g.v * i, dtype=h.dtype).index_add(0, at_v, gate * x.values[entry]).view(g.v, i)
    else:
        a = by_columns(lambda h, c, x: g.sum(torch.sigmoid(g.at_src(h) + g.at_dst(c)) * g.at_src(x)), h, c, x)
    z = a @ p("W", i, o)
    return z if last else F.relu(z)


def gru(p, a, x, i):
    """One gated recurrent step: input a, hidden x, both V x i; gate order r, z, n."""
    ir, iz, inn = (a @ p("W_i", i, 3 * i) + p("b_i", 3 * i)).chunk(3, 1)
    hr, hz, hn = (x @ p("W_h", i, 3 * i) + p("b_h", 3 * i)).chunk(3, 1)
    r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz)
    n = torch.tanh(inn + r * hn)
    return (1 - z) * n + z * x


def ggnn_step(p, x, g, i):
    """A message of one edge type, then the GRU."""
    return gru(p, g.neighbours(x @ p("A", 1, i, i)[0]), x, i)


def sage(p, x, g, i, o, last):
    mean = g.neighbours(x @ p("W_neigh", i, o)) / g.degree.clamp(min=1)[:, None]
    z = x @ p("W_self", i, o) + mean + p("b", o)
    return z if last else F.relu(z)


def gin(p, x, g, i, o, last, hidden=None):
    hidden = hidden or o
    y = x @ p("W1", i, hidden)
    y = F.relu((1 + p("eps", 1)) * y + g.neighbours(y) + p("b1", hidden))
    z = y @ p("W2", hidden, o) + p("b2", o)
    return z if last else F.relu(z)


def gat(p, x, g, i, o, last, heads=1, attention_dropout=0.0, training=False):
    """heads heads of o/heads columns each, concatenated."""
    w = o // heads
    h = x @ p("W", i, o)
    by_head = h.view(-1, heads, w)
    s = (by_head * p("a_src", heads, w, 1)[:, :, 0]).sum(2)
    d = (by_head * p("a_dst", heads, w, 1)[:, :, 0]).sum(2)
    e = F.leaky_relu(g.at_src(s) + g.at_dst(d), 0.2)
    q = torch.exp(e - g.max(e.detach())[g.dst])
    alpha = q / g.at_dst(g.sum(q))
    alpha = F.dropout(alpha, attention_dropout, training)
    m = g.at_src(h).view(-1, heads, w) * alpha[:, :, None]
    z = g.sum(m.view(-1, o))
    return z if last else F.elu(z)


def resgated(p, x, g, i, o, last):
    k = x @ p("W_key", i, o) + p("b_key", o)
    q = x @ p("W_query", i, o) + p("b_query", o)
    v = x @ p("W_value", i, o) + p("b_value", o)
    a = g.sum(torch.sigmoid(g.at_dst(k) + g.at_src(q)) * g.at_src(v))
    z = a + x @ p("W_skip", i, o) + p("b", o)
    return z if last else F.relu(z)


LAYERS = {f.__name__: f for f in (gcn, commnet, mpgcn, ggcn, sage, gin, gat, resgated)}

"""Graphs of kinds that the engines were not developed on, with counts by NetworkX.

    python bench/mine/unseen.py mine/testdata/unseen

writes one JSON file a graph: edges, labels, and counts of subgraphs. Induced counts of all
connected patterns of three to five vertices come from going through all connected sets of
vertices, those of the named patterns from NetworkX's matcher, edge-induced, without and
with labels.
"""

import itertools
import json
import pathlib
import sys

import networkx as nx
from networkx.algorithms.isomorphism import GraphMatcher, categorical_node_match

GRAPHS = {
    "preferential": nx.barabasi_albert_graph(45, 3, seed=7),
    "small_world": nx.connected_watts_strogatz_graph(60, 6, 0.15, seed=8),
    "geometric": nx.random_geometric_graph(50, 0.19, seed=9),
    "blocks": nx.stochastic_block_model([8, 10, 14], [[0.6, 0.05, 0.02], [0.05, 0.5, 0.1], [0.02, 0.1, 0.3]], seed=10),
    "lattice": nx.convert_node_labels_to_integers(nx.triangular_lattice_graph(5, 10), ordering="sorted"),
    "partite": nx.complete_multipartite_graph(2, 2, 3, 2),
    "caves": nx.relaxed_caveman_graph(7, 6, 0.12, seed=11),
}

NAMED = ["0-1-2-3-0 4-0 4-1 4-2 4-3", "0-1-2-0-3-1", "0-1-2-3-0 0-4-3 1-5-2", "0-1-2-3-0-4-1", "0-1-2-3-4-0", "0-1-2-3-4-5-0", "0-1-2-3-4",
         "0-1-2-0 2-3-4-2", "0-1-2-3-0 0-2 1-3 3-4"]
LABELLED = ["0:1-1:0-2:1-0", "0:0-1-2:1-3-0", "0:2-1-2:0-3:1-0 0-4-3 1-5-2"]


def pattern(text):
    """The graph of a pattern's text."""
    g = nx.Graph()
    for chain in text.split():
        before = None
        for word in chain.split("-"):
            v, _, label = word.partition(":")
            g.add_node(int(v))
            if label:
                g.nodes[int(v)]["label"] = int(label)
            if before is not None:
                g.add_edge(before, int(v))
            before = int(v)
    return g


def fits(a, b):
    """Whether the graph's vertex, of attributes a, may stand for the pattern's."""
    return "label" not in b or a.get("label") == b["label"]


def subgraphs(g, text):
    """The number of subgraphs of g that match: maps divided by automorphisms."""
    p = pattern(text)
    same = sum(1 for _ in GraphMatcher(p, p, categorical_node_match("label", -1)).isomorphisms_iter())
    maps = sum(1 for _ in GraphMatcher(g, p, fits).subgraph_monomorphisms_iter())
    assert maps % same == 0
    return maps // same


def connected_sets(g, k):
    """All connected sets of k vertices, each once."""
    def extend(chosen, more, first):
        if len(chosen) == k:
            yield chosen
            return
        more = set(more)
        while more:
            v = more.pop()
            near = set().union(chosen, *(g[u] for u in chosen))
            yield from extend(chosen + [v], more | {u for u in g[v] if u > first and u not in near}, first)
    for v in g:
        yield from extend([v], {u for u in g[v] if u > v}, v)


def induced(g, k):
    """Counts of induced subgraphs by the text of one of them."""
    pairs = list(itertools.combinations(range(k), 2))
    of, counts = {}, {}
    for s in connected_sets(g, k):
        mask = tuple(g.has_edge(s[i], s[j]) for i, j in pairs)
        if mask not in of:
            p = nx.Graph([e for e, is_edge in zip(pairs, mask) if is_edge])
            of[mask] = next((t for t in counts if nx.is_isomorphic(pattern(t), p)), " ".join(f"{i}-{j}" for i, j in p.edges))
        counts[of[mask]] = counts.get(of[mask], 0) + 1
    return counts


def main(folder):
    for name, g in GRAPHS.items():
        g = nx.Graph(g.edges)
        g.remove_edges_from(list(nx.selfloop_edges(g)))
        n = max(g) + 1
        g.add_nodes_from(range(n))
        labels = [(v * v + v // 3) % 3 for v in range(n)]
        nx.set_node_attributes(g, dict(enumerate(labels)), "label")
        cliques = {}
        for c in nx.enumerate_all_cliques(g):
            cliques[len(c)] = cliques.get(len(c), 0) + 1
        out = {
            "edges": sorted(sorted(e) for e in g.edges), "labels": labels,
            "cliques": {k: cliques.get(k, 0) for k in range(3, 8)},
            "induced": {k: induced(g, k) for k in (3, 4, 5)},
            "subgraphs": {t: subgraphs(g, t) for t in NAMED + LABELLED},
        }
        pathlib.Path(folder, name + ".json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
        print(name, n, g.number_of_edges(), sum(out["induced"][5].values()), flush=True)


main(sys.argv[1])

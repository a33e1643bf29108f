"""Epoch time and memory of PyTorch Geometric on one whole graph, CPU, by path.

    python bench/peer/epoch.py --vertices 50000 --edges 2000000 --features 128 --hidden 64 \\
        --classes 16 --model gcn --threads 2 --epochs 10 --warmup 3 [--graph DIR]

Trains two layers (no dropout, Adam) on the graph in DIR, or on a uniform graph made from
--seed, once with every form of the graph that PyG takes, and prints one JSON line:
epoch_seconds is the fastest path's median, paths holds each path's. "+keep" after a path
means that malloc kept freed blocks between epochs: torch's defaults return tensors of
hundreds of megabytes to the system and fault them in again, which can cost as much as the
arithmetic, so a fair best needs both. A path that PyG refuses is listed under failed with
the reason. Each path runs in a process of its own.
"""

import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import options


def measure(a):
    """Trains one path in this process and returns its numbers."""
    import torch

    import graphs
    import memory
    import peers

    torch.set_num_threads(a.threads)
    g = graphs.load(a.graph) if a.graph else graphs.uniform(a.vertices, a.edges, a.features, a.classes, a.seed)
    x = g["features"]
    if isinstance(x, graphs.CSR):
        x = x.forward(x.values).to_dense()
    vertices, classes = x.shape[0], max(int(g["labels"].max()) + 1, a.classes if not a.graph else 0)
    adj = peers.PATHS[a.path](g["edges"], vertices)
    torch.manual_seed(a.seed)
    model = peers.MODELS[a.model](x.shape[1], a.hidden, classes)
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    ids, y = g["train"], g["labels"][g["train"]]
    step = model
    compile_seconds = None
    if a.path.startswith("compiled"):
        with torch.no_grad():
            model(x, adj)  # GCN's cached normalisation belongs outside of the compiled part
        step = torch.compile(model, dynamic=False)

    def epoch():
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(step(x, adj)[ids], y)
        loss.backward()
        adam.step()
        return loss

    times, cpu = [], []
    for i in range(a.warmup + a.epochs):
        start, used = time.perf_counter(), time.process_time()
        loss = epoch()
        times.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    if a.path.startswith("compiled"):
        compile_seconds = round(times[0], 3)
    last = loss.item()
    del loss
    # The peak of one more epoch. Counted besides what that epoch allocates: what every
    # epoch keeps (parameters, gradients, Adam's moments). Not counted: graph, features,
    # labels and GCN's cached normalised adjacency, which stands for the graph.
    kept = list(model.parameters()) + [p.grad for p in model.parameters() if p.grad is not None]
    kept += [s for state in adam.state.values() for s in state.values() if torch.is_tensor(s)]
    kept = memory.bytes_of(kept)
    peak, _ = memory.peak_bytes(epoch)
    out = {
        "epoch_seconds": round(statistics.median(times[a.warmup :]), 5),
        "epoch_seconds_min": round(min(times[a.warmup :]), 5),
        "epoch_processor_seconds": round(statistics.median(cpu[a.warmup :]), 5),
        "peak_tensor_bytes": kept + peak,
        "loss": round(last, 6),
        "torch": torch.__version__,
    }
    if compile_seconds is not None:
        out["first_epoch_seconds"] = compile_seconds
    return dict(out, vertices=vertices, edges=g["edges"].shape[1], features=x.shape[1], classes=classes)


def run_path(a, path, keep):
    """measure in a process of its own: a crash, a lack of memory or a slow compiler ends that path only."""
    env = dict(os.environ, OMP_NUM_THREADS=str(a.threads), MKL_NUM_THREADS=str(a.threads))
    if keep:
        env.update(MALLOC_MMAP_THRESHOLD_=str(1 << 40), MALLOC_TRIM_THRESHOLD_=str(1 << 40))
    command = [sys.executable, os.path.abspath(__file__), "--path", path] + options.same(a)
    try:
        p = subprocess.run(command, env=env, capture_output=True, text=True, timeout=a.limit)
    except subprocess.TimeoutExpired:
        return None, f"no result within {a.limit} s"
    if p.returncode:
        lines = [line for line in p.stderr.splitlines() if line.strip()]
        return None, f"exit {p.returncode}: {lines[-1].strip()[:200] if lines else 'no message'}"
    return json.loads(p.stdout.splitlines()[-1]), None


def main():
    a = options.parse(__doc__)
    if a.path:
        print(json.dumps(measure(a)))
        return
    if a.write_graph:
        import graphs

        graphs.save(a.write_graph, graphs.uniform(a.vertices, a.edges, a.features, a.classes, a.seed))
        a.graph = a.write_graph
    paths, failed, shape = {}, {}, {}
    settings = {"default": [False], "keep": [True], "both": [False, True]}[a.malloc]
    for path, keep in itertools.product(a.paths.split(","), settings):
        found, reason = run_path(a, path, keep)
        path += "+keep" if keep else ""
        if reason:
            failed[path] = reason
            continue
        shape = {k: found.pop(k) for k in ("vertices", "edges", "features", "classes", "torch")}
        paths[path] = found
        print(path, found, file=sys.stderr, flush=True)
    if not paths:
        sys.exit(f"no path of {a.model} worked: {failed}")
    best = min(paths, key=lambda k: paths[k]["epoch_seconds"])
    least = min(paths, key=lambda k: paths[k]["peak_tensor_bytes"])
    print(
        json.dumps(
            {
                "model": a.model, **shape, "hidden": a.hidden, "threads": a.threads, "seed": a.seed,
                "warmup": a.warmup, "epochs": a.epochs,
                "path": best, **paths[best],
                "least_memory_path": least, "least_peak_tensor_bytes": paths[least]["peak_tensor_bytes"],
                "paths": paths, "failed": failed,
            }
        )
    )


if __name__ == "__main__":
    main()

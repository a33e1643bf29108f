"""Writes accuracy.json and the Markdown table made from it.

    python bench/peer/report.py [OTHER/accuracy.json ...]

renders ACCURACY.md again, after adding the results of runs written elsewhere (cora.py --out).
"""

import json
import os
import sys

import recipes

COMMAND = "OMP_NUM_THREADS=1 nice -n 10 python bench/peer/cora.py"


def summarise(runs):
    """Mean and sample standard deviation over the seeds, by metric."""
    out = {}
    for key in runs[0]:
        xs = [r[key] for r in runs]
        mean = sum(xs) / len(xs)
        var = sum((x - mean) ** 2 for x in xs) / (len(xs) - 1) if len(xs) > 1 else 0.0
        out[key] = {"mean": mean, "std": var**0.5}
    return out


def write(folder, entry, environment, name="accuracy"):
    """Puts entry in the file of its kind in place of an older one of the same pair; accuracy.json is rendered as ACCURACY.md."""
    path = os.path.join(folder, name + ".json")
    doc = {"entries": []}
    if os.path.exists(path):
        with open(path) as f:
            doc = json.load(f)
    key = (entry["recipe"]["data"], entry["recipe"]["row"])
    old = [e for e in doc["entries"] if (e["recipe"]["data"], e["recipe"]["row"]) != key]
    if name == "accuracy":
        text = json.dumps({"command": COMMAND, "environment": environment, "entries": old + [entry]}, indent=1)
    else:  # an entry a line, each with where it ran
        entry["environment"] = environment
        text = '{"entries": [\n' + ",\n".join(json.dumps(e) for e in old + [entry]) + "\n]}"
    with open(path + ".tmp", "w") as f:
        f.write(text + "\n")
    os.replace(path + ".tmp", path)
    if name == "accuracy":
        render(folder)


def render(folder):
    """Rewrites ACCURACY.md from accuracy.json."""
    with open(os.path.join(folder, "accuracy.json")) as f:
        doc = json.load(f)
    with open(os.path.join(folder, "ACCURACY.md"), "w") as f:
        f.write(markdown(doc))


def percent(m):
    return f"{100 * m['mean']:.1f} ± {100 * m['std']:.1f}"


def markdown(doc):
    """One table a data set, rows in the order of the recipes."""
    env = doc["environment"]
    lines = [
        "# Accuracy of the same formulas in plain torch",
        "",
        f"Made by `{doc['command']}` (torch {env['torch']}, {env['threads']} thread).",
        "Mean ± sample standard deviation over the seeds, in percent, after the last epoch.",
        "What each row was trained with stands in accuracy.json under `recipe`; README.md says what the rows mean.",
    ]
    for data in recipes.DATA:
        rows = {e["recipe"]["row"]: e for e in doc["entries"] if e["recipe"]["data"] == data}
        if not rows:
            continue
        keys = [k for k in ("test_accuracy", "test_micro_f1", "test_macro_f1", "val_accuracy", "val_micro_f1", "train_accuracy", "train_micro_f1")]
        keys = [k for k in keys if k in next(iter(rows.values()))["metrics"]]
        lines += ["", f"## {recipes.TITLES[data]}", ""]
        lines.append("| model | " + " | ".join(k.replace("_", " ") for k in keys) + " | hidden | seeds | s a run | note |")
        lines.append("|---" * (len(keys) + 5) + "|")
        for row in recipes.ROWS:
            if row not in rows:
                continue
            r, m = rows[row]["recipe"], rows[row]["metrics"]
            cells = [row] + [percent(m[k]) for k in keys]
            cells += [str(r["hidden"]), str(r["seeds"]), f"{m['seconds']['mean']:.1f}", recipes.NOTES.get((data, row), "")]
            lines.append("| " + " | ".join(cells) + " |")
    done = {(e["recipe"]["data"], e["recipe"]["row"]) for e in doc["entries"]}
    left = [f"{r['data']}:{r['row']}" for r in recipes.all_recipes() if (r["data"], r["row"]) not in done]
    if left:
        lines += ["", "Not run yet: " + ", ".join(left) + "."]
    return "\n".join(lines) + "\n"


def merge(folder, other):
    """Adds the entries of another run's accuracy.json, in place of older ones of the same pairs."""
    with open(other) as f:
        doc = json.load(f)
    for entry in doc["entries"]:
        write(folder, entry, doc["environment"])


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sys.argv[1:]:
        merge(here, path)
    render(here)

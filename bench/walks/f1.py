"""Macro-F1 of vectors of vertices, beside gensim's skip-gram on the same walks.

usage: python3 f1.py LABELS.npy WALKS.npy VECTORS.npy

LABELS are V x C of 0 and 1. Ten random halves of the labelled vertices train a logistic
regression for each class; of the others each vertex gets as many classes as it has
(Perozzi et al., 2014). Settings of gensim are those that saga embed has as default.
"""
import sys
import warnings
import numpy as np
from gensim.models import Word2Vec
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

warnings.filterwarnings("ignore")
labels, walks, ours = (np.load(p) for p in sys.argv[1:4])
labelled = np.flatnonzero(labels.sum(1))


def score(x):
    scores = []
    for seed in range(10):
        order = np.random.RandomState(seed).permutation(labelled)
        train, test = order[: len(order) // 2], order[len(order) // 2 :]
        fit = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(x[train], labels[train])
        p = fit.predict_proba(x[test])
        got = np.zeros_like(p)
        for row, k in enumerate(labels[test].sum(1).astype(int)):
            got[row, np.argsort(-p[row])[:k]] = 1
        scores.append(f1_score(labels[test], got, average="macro", zero_division=0))
    return 100 * np.mean(scores), 100 * np.std(scores) / 3  # the mean's standard error is std/sqrt(9)


print("saga    macro-F1 %.2f +- %.2f" % score(ours), flush=True)
lines = [[str(v) for v in w if v >= 0] for w in walks]
m = Word2Vec(lines, vector_size=ours.shape[1], window=10, negative=5, sg=1, hs=0, epochs=1, min_count=0, sample=0, workers=1, seed=1)
x = np.zeros_like(ours)
for v in range(len(x)):
    if str(v) in m.wv:
        x[v] = m.wv[str(v)]
print("gensim  macro-F1 %.2f +- %.2f" % score(x))

package sample

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	g := mustGraph(t, randomEdges(50, 300, 1))
	for _, f := range Forms {
		f, _, _ = strings.Cut(f, " ")
		s, err := Parse(f, 5)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := Compile(g, s.Sampler); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
	if s, err := Parse("ppr:0.1", 0); err != nil || s.Sampler.Steps != Unbounded {
		t.Errorf("ppr without a length: %v, %d steps", err, s.Sampler.Steps)
	}
	for bad, want := range map[string]string{"": "one of", "walk": "one of", "neighbours": "15,10,5", "neighbours:5,0": "15,10,5", "saint:4": "4000x2",
		"shadow:2x": "2x10", "node2vec:p=x": "p and q", "node2vec:r=1": "p and q", "ppr": "stop", "multirw:": "roots", "deepwalk:3": "settings", "cluster:-1": "cluster:20",
		"neighbours:15,,5": "15,10,5", "neighbours:,5": "15,10,5", "neighbours:5,": "15,10,5", "saint:4xx2": "4000x2", "multirw:,3": "roots", "multirw:3,": "roots",
		"node2vec:p=Inf": "p and q", "node2vec:p=NaN": "above 0", "node2vec:p=2,p=3": "twice", "node2vec:p=2,,q=1": "p and q", "node2vec:p=2,": "p and q", "ppr:0.1,0.2": "stop"} {
		if _, err := Parse(bad, 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", bad, err, want)
		}
	}
	if _, err := Parse("deepwalk", 0); err == nil {
		t.Error("walks of length 0 are taken")
	}
}

package mine

import (
	"context"
	"fmt"
	"strings"
)

// FrequencyExplanation says what a search for frequent patterns will do, as far as it is known before.
type FrequencyExplanation struct {
	By      By     `json:"by"`
	Engine  Engine `json:"engine"`
	Threads int    `json:"threads"`
	Bytes   int64  `json:"bytes"` // rows of the graph and memory of the work, without domains and patterns
	// Of a search by MNI: labels and edges that are frequent, the candidates of the next size, and the
	// most bytes of their domains.
	Labels      int   `json:"labels,omitempty"`
	Frequent    int   `json:"frequent_edges,omitempty"`
	Candidates  int   `json:"candidates,omitempty"`
	DomainBytes int64 `json:"domain_bytes,omitempty"`
	// Of instances: the connected pairs of edges in the graph.
	Pairs string `json:"pairs_of_edges,omitempty"`
}

// ExplainFrequent says how Frequent would search, without searching. It sorts the graph by labels.
func (g *Graph) ExplainFrequent(ctx context.Context, q Frequency) (*FrequencyExplanation, error) {
	f, err := g.frequent(q)
	if err != nil {
		return nil, err
	}
	x := &FrequencyExplanation{By: f.By, Engine: Domains}
	if f.By == MNI {
		by, q, err := f.question(ctx)
		if err != nil {
			return nil, err
		}
		x.Threads, x.Labels, x.Frequent = q.Workers, len(by.Labels), len(by.Edges)
		x.Candidates, x.DomainBytes = by.Second(q)
		x.Bytes = g.byID.Bytes() + 4*int64(len(f.edgeKinds())) + by.Bytes() + int64(q.Workers)*by.WorkerBytes()
		return x, nil
	}
	var pairs Total
	for v := range g.Vertices() {
		d := uint64(g.byID.Degree(uint32(v)))
		pairs.AddProduct(d, d-min(d, 1))
	}
	if x.Engine, x.Pairs = Census, pairs.Half().String(); f.tables() {
		x.Engine = Tables
	}
	_, at, err := f.place(ctx)
	x.Threads, x.Bytes = at.workers, at.bytes
	return x, err
}

// String is the explanation for people.
func (x *FrequencyExplanation) String() string {
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "%-10s%s\n", name, fmt.Sprintf(format, a...)) }
	line("engine", "%s, %d threads", x.Engine, x.Threads)
	if x.By == MNI {
		line("labels", "%d with enough vertices", x.Labels)
		line("edges", "%d frequent patterns of one edge", x.Frequent)
		line("next", "%d candidates; their domains take at most %d bytes", x.Candidates, x.DomainBytes)
	} else {
		line("instances", "%s of two edges, before labels", x.Pairs)
	}
	line("memory", "%d bytes", x.Bytes)
	return b.String()
}

package mine

import (
	"context"
	"fmt"
	"strings"

	"sagann/mine/domain"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/run"
	"sagann/mine/table"
)

// FrequencyExplanation says what a search for frequent patterns will do, as far as it is known before.
type FrequencyExplanation struct {
	By      By     `json:"by"`
	Induced bool   `json:"induced,omitempty"`
	Engine  Engine `json:"engine"`
	Threads int    `json:"threads"`
	Bytes   int64  `json:"bytes"` // rows of the graph and memory of the work, without domains and patterns; with GPUs: on each of them
	// With GPUs: which, and the share of the graph by labels that lies on them.
	Device   string  `json:"device,omitempty"`
	Resident float64 `json:"resident,omitempty"`
	// Of a search by MNI: labels and edges that are frequent, the candidates of the next size, and the
	// most bytes of their domains.
	Labels      int   `json:"labels,omitempty"`
	Frequent    int   `json:"frequent_edges,omitempty"`
	Candidates  int   `json:"candidates,omitempty"`
	DomainBytes int64 `json:"domain_bytes,omitempty"`
	// The seconds that this next size is expected to take: with GPUs mostly the CPU's, which makes the candidates. Of larger sizes it is not known how many candidates there are.
	NextSeconds float64 `json:"next_seconds,omitempty"`
	// The most bytes of patterns: of those candidates, or of all patterns of instances that a census finds.
	PatternBytes float64 `json:"pattern_bytes,omitempty"`
	// Of instances: the connected pairs of edges in the graph, and, of a census, the most patterns.
	Pairs    string `json:"pairs_of_edges,omitempty"`
	Patterns string `json:"most_patterns,omitempty"`
	// Of tables: the rows that are counted, by size. Sizes from a search by Instances on may be left out, if nothing of the size before is found.
	Rows []FrequencyRows `json:"rows,omitempty"`
	// The seconds that counting these, or a census, is expected to take: on GPUs that of their kernels, beside which the host makes a code for each kind of row.
	Seconds float64 `json:"estimated_seconds,omitempty"`
}

// FrequencyRows is what is known before of the rows of a size.
type FrequencyRows struct {
	Size    int     `json:"size"` // edges or, of induced patterns, vertices
	Rows    float64 `json:"rows"`
	Error   float64 `json:"error"` // the relative standard error; 0: they are counted
	Seconds float64 `json:"seconds"`
}

// ExplainFrequent says how Frequent would search, without searching. It sorts the graph by labels and, for a census, by degree.
func (g *Graph) ExplainFrequent(ctx context.Context, q Frequency) (*FrequencyExplanation, error) {
	f, err := g.frequent(q)
	if err != nil {
		return nil, err
	}
	x := &FrequencyExplanation{By: f.By, Induced: f.Induced, Engine: Domains}
	if f.By == MNI {
		by, q, err := f.question(ctx)
		if err != nil {
			return nil, err
		}
		x.Threads, x.Labels, x.Frequent = q.Workers, len(by.Labels), len(by.Edges)
		q.Keeps = holds
		next := by.Second(q)
		x.Candidates, x.DomainBytes, x.PatternBytes = next.Candidates, next.Domains, float64(next.Patterns)
		_, workers := g.rates(place{workers: q.Workers})
		if g.gpus != nil {
			_, _, p, err := f.domainsPlace(by)
			x.Device, x.Bytes, x.Resident = g.opt.Device, p.bytes, p.resident
			_, gpus := g.rates(place{gpu: true})
			x.NextSeconds = gpuLevel + plan.CoreMNI.Seconds(float64(next.Candidates), 0)*run.Speed()/workers + gpuVertex*next.Vertices/gpus
			return x, err
		}
		x.NextSeconds = plan.CoreMNI.Seconds(float64(next.Candidates), next.Vertices) * run.Speed() / workers
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
	by, at, err := f.place(ctx)
	x.Threads, x.Bytes = at.workers, at.bytes
	if at.gpu {
		x.Device, x.Resident, x.Threads = g.opt.Device, at.resident, g.opt.Threads
	}
	if err == nil && f.tables() {
		err = f.explainRows(ctx, x, at)
	}
	if err == nil && by != nil {
		edges, vertices := f.censusSize()
		var most Total
		most, x.PatternBytes = by.MostPatterns(edges, vertices, f.keeps())
		x.Patterns = most.String()
		ordered, err := f.g.ordered()
		if err != nil {
			return nil, err
		}
		seconds, err := domain.CensusSeconds(ctx, by, ordered, f.kinds, edges, vertices, seed)
		if err != nil {
			return nil, failed(err)
		}
		_, workers := f.g.rates(place{workers: at.workers})
		x.Seconds = seconds / workers
	}
	return x, err
}

// What a size of patterns takes with GPUs beside making its candidates: to begin with, and for a vertex of their domains on a GPU of H200Processors. Measured with 233 to 253,538 candidates
// on an H100.
const (
	gpuLevel  = 4e-3
	gpuVertex = 7e-11
)

// A GPU of H200Processors takes so many seconds for a row that it counts by pattern, and so many beside for each size: measured with 4·10⁷ to 1.4·10¹¹ rows.
const (
	gpuRow  = 2.4e-11
	gpuSize = 1.5e-3
)

// explainRows says how many rows of each size there are, and how long counting them takes.
func (f *frequent) explainRows(ctx context.Context, x *FrequencyExplanation, at place) error {
	first, last := 1, min(f.largest(), pattern.MaxVertices-1) // there is no more to say of larger rows
	if f.Induced {
		first, last = 2, f.largest()
	}
	spec := f.rowsOf(last)
	levels, err := spec.Sizes(ctx, seed)
	if err != nil {
		return failed(err)
	}
	_, threads := f.g.rates(at)
	for k := first; k <= last; k++ {
		l := levels[k-1]
		one := FrequencyRows{Size: k, Rows: l.Made, Error: l.Error}
		if l.Exact {
			one.Error = 0
		}
		if at.gpu && k > 1 {
			one.Seconds = (gpuSize + gpuRow*l.Made) / threads
		} else {
			t := f.rows()
			t.Meter = run.NewMeter(f.left)
			rate, err := table.Rate(ctx, t, k, f.Induced, seed)
			if err != nil {
				return err
			}
			one.Seconds = rate * l.Made / threads
		}
		x.Rows, x.Seconds = append(x.Rows, one), x.Seconds+one.Seconds
	}
	return nil
}

// String is the explanation for people.
func (x *FrequencyExplanation) String() string {
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "%-10s%s\n", name, fmt.Sprintf(format, a...)) }
	line("engine", "%s, %d threads", x.Engine, x.Threads)
	if x.Device != "" {
		line("device", "%s, with %.0f %% of the graph on each GPU", x.Device, 100*x.Resident)
	}
	if x.By == MNI {
		line("labels", "%d with enough vertices", x.Labels)
		line("edges", "%d frequent patterns of one edge", x.Frequent)
		line("next", "%d candidates; their domains take at most %d bytes, and they %.0f if all are frequent", x.Candidates, x.DomainBytes, x.PatternBytes)
		if x.NextSeconds > 0 {
			line("", "%.2g s are expected for these; larger sizes are not known yet", x.NextSeconds)
		}
	} else {
		line("instances", "%s of two edges, before labels", x.Pairs)
		what := "edges"
		if x.Induced {
			what = "vertices"
		}
		for i, l := range x.Rows {
			about := fmt.Sprintf("%.0f", l.Rows)
			if l.Error > 0 {
				about = fmt.Sprintf("about %.3g, standard error %.0f %%", l.Rows, 100*l.Error)
			}
			line(map[bool]string{true: "rows"}[i == 0], "of %d %s: %s, %.2g s", l.Size, what, about, l.Seconds)
		}
		if x.Patterns != "" {
			line("patterns", "at most %s, which take at most %.0f bytes", x.Patterns, x.PatternBytes)
			line("time", "about %.2g s", x.Seconds)
		}
	}
	line("memory", "%d bytes", x.Bytes)
	return b.String()
}

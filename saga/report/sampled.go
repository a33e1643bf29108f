package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/internal/units"
)

// SampledSizes are the sizes of the batches that were drawn for planning.
type SampledSizes struct {
	Expected, Spread dataflow.Sizes // their means, and six standard deviations
	Types, Relations []string       // names; nil: there is one type and one relation
}

// Sampled is what reports read of sampled training.
type Sampled struct {
	Text      string // sampler and batch
	Batches   int    // updates per epoch
	Parts     int    // batches per update
	Drawn     int    // number of batches that were drawn for planning
	Sizes     SampledSizes
	Overflows int             // batches that were larger than planned and were run again
	Graph     int64           // bytes of host memory for the graph's rows
	Ahead     int64           // most bytes of batches that are prepared ahead
	Drawing   int64           // bytes of GPU memory for drawing; 0: the host draws
	Host      string          // why the host draws for a GPU
	Eval      *plan.Plan      // of evaluation: over the full graph, or over sampled blocks
	Machine   string          // the machine for which times are predicted; "": none are
	Step      time.Duration   // predicted: the kernels of a step
	Tasks     []time.Duration // predicted: by task of the step
	Draw      time.Duration   // predicted: drawing a batch on the GPU
	Link      float64         // bytes of rows that come over the link for a batch
	LinkTime  time.Duration   // predicted: reading these rows
	Bring     time.Duration   // predicted: finding these rows, and copying those that are on the device
	Turns     int             // batches of an update that a device computes one after the other
}

// Epoch is the predicted time of an epoch. Kernels and link work concurrently, so the longer of the two counts,
// and in addition the link's time for the first batch, which has no step to hide it.
func (s *Sampled) Epoch() time.Duration {
	if s == nil {
		return 0
	}
	return s.LinkTime + time.Duration(s.Batches*max(1, s.Turns))*max(s.Step+s.Draw+s.Bring, s.LinkTime)
}

// table lists the sizes, with the room that z has for them.
func (s *SampledSizes) table(z *plan.Sets) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	cells := func(e int) string { return units.Size(z.Cells[e][plan.CSC] + z.Cells[e][plan.CSR]) }
	if s.Types == nil {
		t.AppendHeader(table.Row{"level", "vertices expected", "6 sigma", "room", "edges into it expected", "6 sigma", "room", "cells"})
		for l := range s.Expected.Vertices {
			row := table.Row{l, s.Expected.Vertices[l], s.Spread.Vertices[l], z.Rows[l+1]}
			if l < len(s.Expected.Edges) {
				row = append(row, s.Expected.Edges[l], s.Spread.Edges[l], z.Edges[l+1], cells(l+1))
			}
			t.AppendRow(row)
		}
		return t.Render()
	}
	t.AppendHeader(table.Row{"level", "vertices, or edges into the level", "expected", "6 sigma", "room", "cells"})
	for l := range len(s.Expected.Vertices) / len(s.Types) {
		for i, name := range s.Types {
			if k := s.Expected.Vertex(l, i); z.Rows[k] > 0 {
				t.AppendRow(table.Row{l, name, s.Expected.Vertices[k-1], s.Spread.Vertices[k-1], z.Rows[k]})
			}
		}
		for i, name := range s.Relations {
			if e := s.Expected.Edge(l, i); e < len(z.Edges) && z.Edges[e] > 0 {
				t.AppendRow(table.Row{l, name, s.Expected.Edges[e-1], s.Spread.Edges[e-1], z.Edges[e], cells(e)})
			}
		}
	}
	return t.Render()
}

// overview is Overview for sampled training.
func (r *Run) overview(w io.Writer) error {
	s, z := r.Sampled, r.Plan.Places.Sets
	var b strings.Builder
	many := units.Counted(s.Batches, "batch", "batches")
	if s.Parts > 1 {
		many = units.Counted(s.Batches, "update", "updates")
	}
	fmt.Fprintf(&b, "graph     %s\nsampling  %s: %s an epoch, sizes from %s\n", r.Graph, s.Text, many, units.Counted(s.Drawn, "batch", "batches"))
	b.WriteString(s.Sizes.table(z))
	fmt.Fprintf(&b, "\nmemory    peak %s for a batch, %s for evaluation", units.Size(r.Plan.Peak), units.Size(s.Eval.Peak))
	if s.Drawing > 0 {
		fmt.Fprintf(&b, ", %s to draw on the GPU", units.Size(s.Drawing))
	}
	if r.Plan.Budget > 0 {
		fmt.Fprintf(&b, " of %s", units.Size(r.Plan.Budget))
	}
	fmt.Fprintf(&b, "\nhost      rows to draw from %s, batches prepared ahead up to %s\n", units.Size(s.Graph), units.Size(s.Ahead))
	if s.Host != "" {
		fmt.Fprintf(&b, "draws     on the host: %s\n", s.Host)
	}
	fmt.Fprintf(&b, "moves     host to device up to %s a batch\n", units.Size(r.Plan.H2D))
	if s.Eval.Places.Sets == nil {
		fmt.Fprintf(&b, "evaluates exactly, over %d×%d edge chunks of the whole graph\n", s.Eval.Cells.P, s.Eval.Cells.P)
	} else {
		b.WriteString("evaluates by sampling, in batches of as many vertices\n")
	}
	if s.Machine != "" {
		if fmt.Fprintf(&b, "predicts  %v for the kernels of a batch, ", s.Step.Round(time.Microsecond)); s.Draw > 0 {
			fmt.Fprintf(&b, "%v to draw it, ", s.Draw.Round(time.Microsecond))
		}
		if s.Link > 0 {
			fmt.Fprintf(&b, "%v for %s of rows over the link, %v to copy the others, ", s.LinkTime.Round(time.Microsecond), units.Size(int64(s.Link)), s.Bring.Round(time.Microsecond))
		}
		fmt.Fprintf(&b, "%v an epoch on %s, if what is shorter hides\n", s.Epoch().Round(time.Microsecond), s.Machine)
	}
	if s.Overflows > 0 {
		fmt.Fprintf(&b, "overflow  %s run again with more room\n", units.Counted(s.Overflows, "batch was", "batches were"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

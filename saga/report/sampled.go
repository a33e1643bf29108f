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

// Sampled is what reports of sampled training say beside the program.
type Sampled struct {
	Text      string          // sampler and batch
	Batches   int             // of an epoch, or where an update has several the updates
	Parts     int             // batches of an update
	Drawn     int             // batches that were drawn to plan
	Expected  dataflow.Sizes  // their mean
	Spread    dataflow.Sizes  // six standard deviations
	Overflows int             // batches that were run again with more room
	Graph     int64           // bytes of the rows that are drawn from
	Ahead     int64           // bytes of the batches that are prepared ahead, at most
	Drawing   int64           // bytes of the GPU that draws; 0: the host draws
	Host      string          // why it does for a GPU
	Eval      *plan.Plan      // over the full graph, or over sampled blocks
	Machine   string          // on which a step is predicted; "": none
	Step      time.Duration   // of its kernels, there
	Tasks     []time.Duration // of each task of it
	Draw      time.Duration   // of a batch, where the GPU draws
	Link      float64         // bytes of rows that come over the link for a batch
	LinkTime  time.Duration   // which they take there
	Bring     time.Duration   // to find them, and to copy the rows that are on the device
	Turns     int             // batches of an update that a device computes
}

// Epoch is what an epoch is predicted to take: what is shorter, kernels or link, hides, but for the rows of the first batch, which no step hides.
func (s *Sampled) Epoch() time.Duration {
	return s.LinkTime + time.Duration(s.Batches*max(1, s.Turns))*max(s.Step+s.Draw+s.Bring, s.LinkTime)
}

// overview is Overview of sampled training.
func (r *Run) overview(w io.Writer) error {
	s, z := r.Sampled, r.Plan.Places.Sets
	var b strings.Builder
	many := units.Counted(s.Batches, "batch", "batches")
	if s.Parts > 1 {
		many = units.Counted(s.Batches, "update", "updates")
	}
	fmt.Fprintf(&b, "graph     %s\nsampling  %s: %s an epoch, sizes from %s\n", r.Graph, s.Text, many, units.Counted(s.Drawn, "batch", "batches"))
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"level", "vertices expected", "6 sigma", "room", "edges into it expected", "6 sigma", "room", "cells"})
	for l := range s.Expected.Vertices {
		row := table.Row{l, s.Expected.Vertices[l], s.Spread.Vertices[l], z.Rows[l+1]}
		if l < len(s.Expected.Edges) {
			row = append(row, s.Expected.Edges[l], s.Spread.Edges[l], z.Edges[l+1], units.Size(z.Cells[l+1][plan.CSC]+z.Cells[l+1][plan.CSR]))
		}
		t.AppendRow(row)
	}
	b.WriteString(t.Render())
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

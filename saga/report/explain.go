package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/internal/units"
	"sagann/internal/words"
)

// Explain writes what a training epoch will do: Overview, tables of device and host memory, and what
// the compiler did with the user's lines.
func (r *Run) Explain(w io.Writer) error {
	if err := r.Overview(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s%s", buffers(r.Plan), r.hostTable(), r.compiled())
	return err
}

// compiled says what the compiler did with the user's lines.
func (r *Run) compiled() string { return notes(r.Low) + regions(r.Low, r.Plan) }

// Overview writes the first lines of Explain: graph, grid, schedule, memory, bytes copied and, with
// Config.Machine, the predicted time and the load of every link.
func (r *Run) Overview(w io.Writer) error {
	if r.Sampled != nil {
		return r.overview(w)
	}
	pl := r.Plan
	var b strings.Builder
	b.WriteString("graph     " + r.Graph + "\n")
	fmt.Fprintf(&b, "grid      %d×%d edge chunks, intervals of %d vertices", pl.Cells.P, pl.Cells.P, pl.Cells.Width)
	if e := r.Edges; pl.Cells.P > 1 && e != nil && e.E() > 0 {
		before, mean := chunk.CellSkew(e, nil, pl.Cells.P)
		after, _ := chunk.CellSkew(e, r.Order, pl.Cells.P)
		fmt.Fprintf(&b, "; edges a chunk max/mean %.2f (%.2f before re-encoding)", float64(after)/mean, float64(before)/mean)
	}
	b.WriteString(words.Text("\nschedule  %s, %d {slot|slots} an operand that streams", pl.Schedule, pl.Slots))
	if most := slices.Max(append([]int{0}, pl.PhaseSlots...)); most > pl.Slots {
		fmt.Fprintf(&b, ", up to %d where memory is left", most)
	}
	if most := slices.Max(pl.Groups); most > 1 {
		fmt.Fprintf(&b, ", %d intervals at a time", pl.Groups[len(pl.Groups)-1])
		if most > pl.Groups[len(pl.Groups)-1] {
			fmt.Fprintf(&b, " (up to %d)", most)
		}
	}
	if pl.Devices > 1 {
		fmt.Fprintf(&b, ", %d devices", pl.Devices)
	}
	if r.Save != dataflow.SaveSome {
		fmt.Fprintf(&b, "; save %s", r.Save)
	}
	if slices.ContainsFunc(r.Low.Notes, func(n dataflow.Note) bool { return n.Pass == "inside" }) {
		b.WriteString("; rows of gradients multiplied on edges")
	}
	b.WriteString(storedBeside(r.Stored))
	if k := r.Slices; k > 1 {
		fmt.Fprintf(&b, "; columns gathered in %d slices", k)
	}
	if r.Packed {
		fmt.Fprintf(&b, "; far ends of edges packed into %d bits", chunk.IDBits(pl.Cells.FarWidth()))
	}
	switch {
	case r.Wide >= pl.Cells.P:
		b.WriteString("; each interval's edges in one cell a relation, whatever their far ends")
	case r.Wide > 0:
		fmt.Fprintf(&b, "; cells reach over %d intervals of far ends", r.Wide)
	}
	if len(pl.Places.Windows) > 0 {
		fmt.Fprintf(&b, "; %d windows", len(pl.Places.Windows))
	}
	if r.Storage == dataflow.StorageBF16 {
		b.WriteString("\nstorage   rows that edges gather are bfloat16, sums float32")
	}
	fmt.Fprintf(&b, "\nmemory    peak %s", units.Size(max(pl.Peak, r.Peak)))
	if pl.Budget > 0 {
		fmt.Fprintf(&b, " of %s", units.Size(pl.Budget))
	}
	if r.Peak > pl.Peak {
		fmt.Fprintf(&b, ", in evaluation; training takes %s", units.Size(pl.Peak))
	}
	fmt.Fprintf(&b, "\nmoves     host to device %s, device to host %s", units.Size(pl.H2D), units.Size(pl.D2H))
	if pl.Devices > 1 {
		fmt.Fprintf(&b, ", device to device %s", units.Size(pl.D2D))
	}
	fmt.Fprintf(&b, " an epoch; %s once\n", units.Size(pl.Once))
	b.WriteString(r.hostLine())
	if t := r.Predicted; t != nil {
		fmt.Fprintf(&b, "machine   %s\n", t)
		for _, l := range t.Links {
			if l.Down+l.Up > 0 {
				fmt.Fprintf(&b, "link      %s: %s down, %s up, busy %.0f %%\n", l.Name, units.Size(l.Down), units.Size(l.Up), 100*l.Load)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// storedBeside says which values of list (Outcome.Store) are stored, and which are computed later, or elsewhere.
func storedBeside(list []string) string {
	var stored, late, bases, anew, far []string
	for _, name := range list {
		if x, ok := strings.CutPrefix(name, dataflow.Late); ok {
			late = append(late, x)
		} else if x, ok := strings.CutPrefix(name, dataflow.Arrive); ok {
			bases = append(bases, x)
		} else if x, ok := strings.CutPrefix(name, dataflow.Anew); ok {
			anew = append(anew, x)
		} else if x, ok := strings.CutPrefix(name, dataflow.Far); ok {
			far = append(far, x)
		} else {
			stored = append(stored, x)
		}
	}
	text := ""
	if len(stored) > 0 {
		text += "; stored beside that: " + strings.Join(stored, ", ")
	}
	if len(late) > 0 {
		text += "; made where they are read first: " + strings.Join(late, ", ")
	}
	if len(anew) > 0 {
		text += "; computed anew at the own end: " + strings.Join(anew, ", ")
	}
	if len(far) > 0 {
		text += "; stored for far ends: " + strings.Join(far, ", ")
	}
	if len(bases) > 0 {
		text += "; far ends of edges made on arrival of: " + strings.Join(bases, ", ")
	}
	return text
}

// buffers is the table of device memory. Buffers of different phases may overlap.
func buffers(pl *plan.Plan) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"device memory", "bytes", "lives"})
	type row struct {
		name  string
		bytes int64
	}
	sum := map[string]int64{}
	var rows []row
	for _, m := range pl.Places.Memory {
		if m.Bytes == 0 {
			continue
		}
		if m.From == plan.Whole && m.Bytes < 1<<16 {
			sum["small matrices"] += m.Bytes
			continue
		}
		t.AppendRow(table.Row{m.Name, m.Bytes, lives(m.From, m.To)})
	}
	for n, x := range sum {
		rows = append(rows, row{n, x})
	}
	for _, r := range rows {
		t.AppendRow(table.Row{r.name, r.bytes, "whole run"})
	}
	return t.Render() + "\n"
}

// lives says in which phases something is in use.
func lives(from, to int) string {
	if from == plan.Whole {
		return "whole run"
	}
	return fmt.Sprintf("phases %d–%d", from, to)
}

// hostTable is the table of host memory.
func (r *Run) hostTable() string {
	if r.Host == nil {
		return ""
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"host memory", "bytes", "moved an epoch", "lives", "lies in"})
	for _, x := range r.Host.Tenants {
		where := "memory"
		if x.Disk {
			where = "a file"
		}
		if x.Bytes > 0 {
			t.AppendRow(table.Row{x.Name, x.Bytes, x.Moved, lives(x.From, x.To), where})
		}
	}
	if n := r.Host.Staging; n > 0 {
		t.AppendRow(table.Row{"between files and devices", n, "", lives(plan.Whole, plan.Whole), "memory"})
	}
	return t.Render() + "\n\n"
}

// notes says what the passes did, a line for each of the user's operations.
func notes(l *dataflow.Lowered) string {
	var b strings.Builder
	for _, n := range l.Notes {
		if strings.HasPrefix(n.Pos, "grad of") && n.Pass != "factor" && n.Pass != "storage" {
			continue
		}
		fmt.Fprintf(&b, "%-9s %s at %s: %s\n", n.Pass, n.Op, n.Pos, n.What)
	}
	return b.String()
}

// regions says which operations were fused into which edge pass.
func regions(l *dataflow.Lowered, pl *plan.Plan) string {
	var b strings.Builder
	for _, r := range l.Regions {
		set := map[string]bool{}
		var ops, lines []string
		for _, n := range r.Body {
			ops = append(ops, string(n.Op()))
		}
		for _, n := range append(append([]*dataflow.Node{}, r.Body...), r.Gathers...) {
			if pos := strings.TrimPrefix(n.Pos(), "grad of "); !set[pos] {
				set[pos] = true
				lines = append(lines, pos)
			}
		}
		sort.Strings(lines)
		var outs []string
		for _, n := range r.Gathers {
			outs = append(outs, fmt.Sprintf("%s[%d]", n.Op(), n.Cols()))
		}
		what := strings.Join(ops, " ")
		if what == "" {
			what = "rows as they are"
		}
		fmt.Fprintf(&b, "fuse      phase %d over %s: %s → %s  (%s)\n", r.Phase, r.Dir, what, strings.Join(outs, ", "), strings.Join(lines, ", "))
	}
	return b.String()
}

// hostLine says how much host memory training takes.
func (r *Run) hostLine() string {
	h := r.Host
	if h == nil {
		return ""
	}
	text := "host      " + units.Size(h.Memory)
	if h.Budget > 0 {
		text += " of " + units.Size(h.Budget)
	}
	text += " beside the data"
	if h.Disk > 0 {
		text += fmt.Sprintf("; %s in files in %s", units.Size(h.Disk), cmp.Or(r.Scratch, os.TempDir()))
	}
	return text + "\n"
}

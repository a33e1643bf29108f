package mine

import (
	"context"
	"fmt"
	"strings"

	"sagann/device"
	"sagann/mine/cuda"
)

// TableExplanation says what Store of a table will keep, as far as it is known before.
type TableExplanation struct {
	Vertices bool         `json:"vertices"` // rows of vertices, not of edges
	Levels   []TableLevel `json:"levels"`
	Rows     float64      `json:"rows"`  // whole rows
	Bytes    float64      `json:"bytes"` // of all columns
	// Where the columns will lie. Columns of all sizes grow together: of each about the same share is in the file.
	OnGPUs float64 `json:"on_gpus,omitempty"`
	Host   float64 `json:"host"`
	File   float64 `json:"file"`
	// NoFolder: what is in the file needs Options.Scratch, without which Store refuses the table.
	NoFolder bool `json:"no_folder,omitempty"`
	GPUs     bool `json:"gpus,omitempty"` // make the rows
	// Seconds is the time of one thread of this CPU, with nothing else on it, for making and keeping rows in memory; what writing a file takes is not in it. Of GPUs it is their time, without that of compiling kernels.
	Seconds float64 `json:"estimated_seconds,omitempty"`
	// Why the CPU makes the rows though the graph has GPUs.
	Why string `json:"why,omitempty"`
}

// TableLevel is what is known of the rows of a size.
type TableLevel struct {
	Size    int     `json:"size"`
	Made    float64 `json:"made"`              // rows that begin so and fulfil the conditions
	Exact   bool    `json:"exact"`             // Made is exact; else it is an estimate
	Error   float64 `json:"error"`             // the relative standard error of Made
	Seen    int     `json:"seen"`              // rows of the size that were looked at
	Kept    float64 `json:"kept"`              // rows that lead to whole ones: only these are stored
	Bytes   float64 `json:"bytes"`             // of their columns
	Seconds float64 `json:"seconds,omitempty"` // for making the rows of this size from those of the size before
}

// doubtful is the standard error from which on an estimate may be wrong by a factor of two.
const doubtful = 0.25

// Doubtful reports whether the sample does not say how many rows there are within a factor of two: few or none of the rows that were looked at fulfil the conditions, or few
// rows of the size before have nearly all that follow.
func (l *TableLevel) Doubtful() bool { return !l.Exact && (l.Error > doubtful || l.Seen < 100) }

// Explain says what Store would keep and where, without storing: rows of one and two edges (vertices) without conditions are counted from degrees, those of more and those that conditions
// leave are estimated from a sample (see TableLevel.Doubtful). Conditions and filters are asked for the sample. A table that goes on from stored rows is refused.
func (t *Table) Explain(ctx context.Context) (*TableExplanation, error) {
	switch {
	case t.err != nil:
		return nil, t.err
	case t.spec.From != nil:
		return nil, &QuestionError{"a table that goes on from stored rows is not explained: explain the one that makes all rows"}
	}
	spec, g := t.whole(), t.g
	onGPUs := g.gpus != nil && t.growable(false) == nil
	x := &TableExplanation{Vertices: spec.Vertices, GPUs: onGPUs}
	var room int64
	var m *cuda.Making
	var err error
	if onGPUs {
		_, m, err = t.growing(storing, cuda.ForStore)
	} else if room, _, err = t.storeRoom(); g.gpus != nil {
		x.Why = t.growable(false).Error()
	}
	if err != nil {
		return nil, err
	}
	levels, err := spec.Sizes(ctx, seed)
	if err != nil {
		return nil, failed(err)
	}
	for k, l := range levels {
		one := TableLevel{Size: k + 1, Made: l.Made, Exact: l.Exact, Error: l.Error, Seen: l.Seen, Kept: l.Kept, Bytes: 4 * l.Kept}
		switch x.Rows = l.Made; {
		case k+1 < len(levels):
			one.Bytes *= 2
		case onGPUs && k > 0:
			one.Bytes = 4 * l.Words
		}
		if k > 0 && !onGPUs {
			one.Seconds = levels[k-1].Seconds
			x.Seconds += one.Seconds
		}
		x.Levels = append(x.Levels, one)
	}
	x.Bytes, x.File = spec.Columns(levels, room)
	if x.Host = x.Bytes - x.File; onGPUs {
		x.Bytes = 0
		for _, l := range x.Levels {
			x.Bytes += l.Bytes
		}
		gpus := len(g.gpus.list)
		x.OnGPUs = min(x.Bytes, float64(gpus)*float64(cuda.ColumnRoom(m)))
		host := g.opt.HostMem - m.Stage*int64(gpus)
		if free := device.HostAvailable(); g.opt.HostMem == 0 && free > 0 {
			host = free / 4 * 3
		}
		x.Host = min(x.Bytes-x.OnGPUs, float64(max(0, host)))
		x.File = x.Bytes - x.OnGPUs - x.Host
		_, processors := g.rates(place{gpu: true})
		made := 0.0
		for _, l := range levels {
			made += l.Made
		}
		x.Seconds = (storeStart+storeRow*made)/processors + storePinned*x.Host
	}
	x.NoFolder = x.File > 0 && g.opt.Scratch == ""
	return x, nil
}

// What storing rows takes on a GPU of H200Processors: to begin with, for a row, and for a byte of host memory, which is pinned. They were measured with 2·10⁹ rows on an H200.
const (
	storeStart  = 5e-3
	storeRow    = 5e-11
	storePinned = 1 / 23e9
)

// String is the explanation for people.
func (x *TableExplanation) String() string {
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "%-10s%s\n", name, fmt.Sprintf(format, a...)) }
	what := map[bool]string{false: "edges", true: "vertices"}[x.Vertices]
	for i := range x.Levels {
		l := &x.Levels[i]
		about := fmt.Sprintf("about %.3g, standard error %.0f %%, from %d rows", l.Made, 100*l.Error, l.Seen)
		if l.Exact {
			about = fmt.Sprintf("%.0f", l.Made)
		}
		about += fmt.Sprintf("; kept %.3g, %.3g bytes", l.Kept, l.Bytes)
		if l.Seconds > 0 {
			about += fmt.Sprintf(", %.2g s", l.Seconds)
		}
		if l.Doubtful() {
			about += "; the sample is too small to say it within a factor of two"
		}
		line(map[bool]string{true: "rows"}[i == 0], "of %d %s: %s", l.Size, what, about)
	}
	if x.Why != "" {
		line("cpu", "makes the rows: %s", x.Why)
	}
	line("columns", "about %.3g bytes: %.3g on GPUs, %.3g in host memory, %.3g in a file", x.Bytes, x.OnGPUs, x.Host, x.File)
	if x.NoFolder {
		line("", "a file needs the folder Options.Scratch: without it Store refuses the table")
	}
	about := fmt.Sprintf("about %.2g s on one thread", x.Seconds)
	if x.GPUs {
		about = fmt.Sprintf("about %.2g s on GPUs whose kernels are compiled", x.Seconds)
	}
	if x.File > 0 {
		about += ", and what it takes to write the file"
	}
	line("time", "%s", about)
	return b.String()
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"sagann/chunk"
	"sagann/dataset"
)

// flagRow says how a flag shows.
type flagRow struct {
	with  string // arguments that stand beside it, in place of those that the command has here
	value string // its value; "" for a flag without
	idle  string // arguments with which it has no effect, which must be said or refused; its value may stand behind "=="
	why   string // in place of the others: why no run on a CPU shows an effect, and what tests it
}

// shown is what a command did, without times and without its record of settings.
type shown struct {
	status         int
	stdout, stderr string
	files          string // names, and hashes of what was written
}

var (
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s|m|h)\b|\b\d+(\.\d+)? (ns|µs|ms|s)\b|\b\d\d:\d\d:\d\d\b|\b\d+ M/s|took .* from the system|\d+ processor seconds`)
	// Columns of tables with such a heading hold what a clock measured.
	timed   = regexp.MustCompile(`(^| )(MS|S|SECONDS)( |$)|/S|BOUND|SLOWER|FASTER|SPEED|RATIO`)
	padding = regexp.MustCompile(`[ ─]+`) // as wide as numbers are long
	// Lines of progress depend on the clock.
	progressLine = regexp.MustCompile(`^(epoch|batch|plan) `)
	pictures     = regexp.MustCompile(`^(loss|accuracy)\.(png|svg)$`)
)

// TestEveryFlag walks over the flags of all commands: each changes what is printed or written, is refused, or is said to be
// without effect. A new flag needs a row in flagRows.
func TestEveryFlag(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command some hundred times")
	}
	t.Chdir(flagData(t))
	used, base := map[string]bool{}, map[string]*shown{}
	of := func(args string) *shown {
		if base[args] == nil {
			base[args] = runShown(t, args)
		}
		return base[args]
	}
	allCommands(func(command string, flags []*kong.Flag) {
		for _, f := range flags {
			row, key := flagRowOf(command, f.Name)
			if used[key] = true; row == nil {
				t.Errorf("%s --%s: no row in flagRows says how it shows", command, f.Name)
			}
		}
		t.Run(command, func(t *testing.T) {
			// What differs without a change of flags would hide a flag that does nothing.
			bare := strings.TrimSpace(command + " " + flagBase[command])
			if first, again := of(bare), runShown(t, bare); *first != *again {
				t.Errorf("saga %s shows something else when it runs again: %+v and %+v", bare, *first, *again)
			}
			for _, f := range flags {
				if row, _ := flagRowOf(command, f.Name); row != nil {
					checkFlag(t, command, f.Name, row, of)
				}
			}
		})
	})
	for key := range flagRows {
		if !used[key] {
			t.Errorf("flagRows has %q, and no command has such a flag", key)
		}
	}
}

func checkFlag(t *testing.T, command, name string, row *flagRow, of func(string) *shown) {
	beside := func(args string) string {
		more, adds := strings.CutPrefix(args, "+")
		if adds || args == "" {
			return strings.TrimSpace(flagBase[command] + " " + more)
		}
		needs := flagNeeds[command]
		if first, _, _ := strings.Cut(needs, " "); !strings.Contains(args, first+" ") && !strings.Contains(args, "--dry-run") {
			args += " " + needs
		}
		return strings.TrimSpace(args)
	}
	with := beside(row.with)
	flag := "--" + name
	if row.value != "" {
		flag += "=" + row.value
	}
	if row.why != "" {
		checkIdle(t, command, name, flag, beside, row, of)
		return
	}
	before, after := of(command+" "+with), of(command+" "+with+" "+flag)
	if before.status != 0 {
		t.Errorf("saga %s %s ends with status %d: %s", command, with, before.status, before.stderr)
		return
	}
	if !after.says(name) && after.status == 0 && before.stdout == after.stdout && before.stderr == after.stderr && before.files == after.files {
		t.Errorf("saga %s %s %s does nothing and says nothing", command, with, flag)
	}
	checkIdle(t, command, name, flag, beside, row, of)
}

// checkIdle checks that a flag is refused, or said to have no effect, where it has none.
func checkIdle(t *testing.T, command, name, flag string, beside func(string) string, row *flagRow, of func(string) *shown) {
	if row.idle == "" {
		return
	}
	idle, value, given := strings.Cut(row.idle, " == ")
	if idle = beside(idle); given {
		flag = "--" + name + "=" + value
	}
	if got := of(command + " " + idle + " " + flag); !got.says(name) && got.status == 0 {
		t.Errorf("saga %s %s %s has no effect, and nothing says so: %s", command, idle, flag, got.stderr)
	}
}

// says tells whether standard error names the flag as one without effect.
func (s *shown) says(name string) bool {
	i := strings.Index(s.stderr, "no effect")
	return i >= 0 && regexp.MustCompile(`--`+name+`\b`).MatchString(s.stderr[i:])
}

// flagRowOf is the row of a flag: its command's own, that of all settings, or that of all commands.
func flagRowOf(command, name string) (*flagRow, string) {
	keys := []string{command + " " + name}
	if word, _, nested := strings.Cut(command, " "); nested {
		keys = append(keys, word+" "+name)
	}
	if slices.Contains([]string{"train", "plan", "kernels"}, command) {
		keys = append(keys, "settings "+name)
	}
	for _, key := range append(keys, name) {
		if row, ok := flagRows[key]; ok {
			return &row, key
		}
	}
	return nil, ""
}

// allCommands calls f for each command that runs, with its flags.
func allCommands(f func(command string, flags []*kong.Flag)) {
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, c := range n.Children {
			at := strings.TrimSpace(path + " " + c.Name)
			if len(c.Children) == 0 {
				f(at, c.Flags)
			}
			walk(c, at)
		}
	}
	walk(newParser(&commands{}, os.Stdout, os.Stderr).Model.Node, "")
}

// runShown runs a command in this process. What it writes is in the folder o, which is gone afterwards.
func runShown(t *testing.T, args string) *shown {
	t.Helper()
	if err := os.MkdirAll("o", 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll("o")
	out, errs := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "err")
	open := func(path string) *os.File {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	stdout, stderr := open(out), open(errs)
	s := &shown{status: runHere(strings.Fields(args), stdout, stderr)}
	stdout.Close()
	stderr.Close()
	s.stdout, s.stderr = plainText(t, out), plainText(t, errs)
	s.files = filesIn(t, "o")
	return s
}

// plainText is a file without times and lines of progress.
func plainText(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var heads []string // of the table in which the line stands
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "│")
		switch {
		case strings.HasPrefix(line, "┌"):
			heads = nil
		case len(cells) > 1 && heads == nil:
			heads = cells
		case len(cells) > 1 && len(cells) == len(heads):
			for i := range cells {
				if timed.MatchString(strings.TrimSpace(heads[i])) {
					cells[i] = "T"
				}
			}
			line = strings.Join(cells, "│")
		}
		if !progressLine.MatchString(line) {
			b.WriteString(padding.ReplaceAllString(durations.ReplaceAllString(line, "T"), " "))
		}
	}
	return b.String()
}

// filesIn names all files of a folder, with hashes of those that do not hold times or settings.
func filesIn(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case name == checkpointFile:
			tensors, err := tensors(path)
			if err != nil {
				return err
			}
			text = fmt.Append(nil, tensors)
		case name == "metrics.csv":
			var lines []string
			var seconds int
			for line := range strings.Lines(string(text)) {
				fields := strings.Split(strings.TrimSpace(line), ",")
				if len(lines) == 0 {
					seconds = slices.Index(fields, "seconds")
				}
				lines = append(lines, strings.Join(slices.Delete(fields[:len(fields)-1], seconds, seconds+1), ","))
			}
			text = []byte(strings.Join(lines, "\n"))
		case name == "report.json":
			var report map[string]any
			if err := json.Unmarshal(text, &report); err != nil {
				return err
			}
			delete(report, "times")
			delete(report, "crc32c")
			text = fmt.Append(nil, report)
		case strings.HasSuffix(name, ".html"), strings.HasPrefix(name, "trace."), pictures.MatchString(name), name == "log.txt", name == "config.json":
			text = nil
		}
		h := fnv.New64a()
		h.Write(bytes.ReplaceAll(text, []byte(dir), nil))
		fmt.Fprintf(&b, "%s %x\n", path, h.Sum64())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// flagData is a folder with the graphs and tables that rows of flags name.
func flagData(t *testing.T) string {
	dir := t.TempDir()
	const v, e = 60, 260
	graph := func(name string, change func(d *dataset.Data, r *rand.Rand)) {
		r := rand.New(rand.NewPCG(1, 2))
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: v}, FeatureCols: 6}
		for range e {
			d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(r.IntN(v))), append(d.Edges.Dst, uint32(r.IntN(v)))
		}
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, 3, 3), append(d.Edges.Dst, 3, 3) // loops, twice
		for range v * 6 {
			d.Features = append(d.Features, float32(r.NormFloat64()))
		}
		change(d, r)
		if err := dataset.WriteStore(filepath.Join(dir, name+".saga"), d, 2); err != nil {
			t.Fatal(err)
		}
	}
	classes := func(d *dataset.Data, r *rand.Rand) {
		d.Classes = 3
		for range v {
			d.Labels = append(d.Labels, int32(r.IntN(3)))
		}
	}
	graph("g", classes)
	graph("splits", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Train, d.Val, d.Test = []uint32{0, 1, 2, 3}, []uint32{4, 5}, []uint32{6, 7}
	})
	graph("w", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		for range d.Edges.E() {
			d.Edges.Weight = append(d.Edges.Weight, r.Float32()+0.1)
		}
	})
	graph("numbers", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Edges.DataCols = 2
		for range 2 * d.Edges.E() {
			d.Edges.Data = append(d.Edges.Data, r.Float32())
		}
	})
	graph("m", func(d *dataset.Data, r *rand.Rand) {
		d.Classes = 3
		for range 3 * v {
			d.MultiLabels = append(d.MultiLabels, float32(r.IntN(2)))
		}
	})
	graph("t", func(d *dataset.Data, r *rand.Rand) {
		d.Targets.Cols = 1
		for range v {
			d.Targets.Vertex = append(d.Targets.Vertex, float32(3*r.NormFloat64()))
		}
	})
	graph("graphs", func(d *dataset.Data, r *rand.Rand) {
		d.Edges.Src, d.Edges.Dst = nil, nil
		for i := range v {
			d.GraphOf = append(d.GraphOf, uint32(i/4))
			d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(i)), append(d.Edges.Dst, uint32(i/4*4))
		}
		for range v / 4 {
			d.GraphLabels = append(d.GraphLabels, int32(r.IntN(2)))
		}
	})
	for name, text := range map[string]string{
		"config.json": `{"model": "gin", "hidden": 5}`,
		"gaps.txt":    "0 1\n1 0\n1 5\n5 1\n0 5\n5 0\n",
		"seeds.txt":   "3\n5\n",
		"pairs.txt":   "0 1\n2 3\n",
		"e.csv":       "source,target,a,b,x,k\n1,2,2,3,0.5,u\n2,3,3,1,2,v\n3,1,1,2,4,u\n",
		"more.csv":    "source,target\n1,2\n2,3\n3,1\n2,9\n",
		"v.csv":       "id,other,kind,size,part\n1,3,p,2,train\n2,1,q,3,val\n3,2,p,5,test\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	graph("labelled", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Edges = d.Edges.Symmetric()
	})
	graph("named", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Edges = d.Edges.Symmetric()
		for i := range v {
			d.Vertices.Names = append(d.Vertices.Names, fmt.Sprintf("=1+%d", i))
		}
	})
	graph("timed", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		for range d.Edges.Src {
			d.Edges.Time = append(d.Edges.Time, float64(r.IntN(9)))
		}
		for range v {
			d.Vertices.Time = append(d.Vertices.Time, float64(3+r.IntN(6)))
		}
	})
	graph("h", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Edges.Src = d.Edges.Src[1:]
		d.Edges.Dst = d.Edges.Dst[1:]
	})
	graph("typed", func(d *dataset.Data, r *rand.Rand) {
		classes(d, r)
		d.Edges = d.Edges.Symmetric()
		d.Edges.Types = 2
		for k, v := range d.Edges.Src {
			d.Edges.Type = append(d.Edges.Type, (v^d.Edges.Dst[k])&1)
		}
	})
	run := func(args string) {
		errs, err := os.Create(filepath.Join(dir, "errors"))
		if err != nil {
			t.Fatal(err)
		}
		defer errs.Close()
		if status := runHere(strings.Fields(strings.ReplaceAll(args, "@", dir+"/")), errs, errs); status != 0 {
			text, _ := os.ReadFile(errs.Name())
			t.Fatalf("saga %s: %s", args, text)
		}
	}
	run("data generate vertices=4000,edges=8000,features=1,classes=2 --out @big.saga")
	run("train --data @g.saga --epochs 2 --out @run")
	run("train --data @g.saga --model gin --epochs 2 --out @other")
	run("train --data @g.saga --task link --epochs 2 --out @linkrun")
	run("export @run --pyg @w.pt")
	run("train --data @graphs.saga --model gin --virtual-node --epochs 1 --out @virtual")
	run("export @virtual --pyg @virtual.pt")
	return dir
}

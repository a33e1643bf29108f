// Package quality plans a fixed list of cases from statistics. It reports the quality of the plans as the
// simulated seconds of an epoch, and the time and memory of planning.
//
//	go run ./bench quality --record FILE                      # plan all cases, write a table
//	go run ./bench quality --against bench/quality/table.csv  # plan all, compare with a table
//	go run ./bench quality --run ^time/                       # the cases that bound planning time
//	go run ./bench quality --from NEW --against OLD            # compare two tables, plan what NEW lacks
//
// To measure what a move of the search gains, compare planning without it with a table made with it:
//
//	go run ./bench quality --record with.csv
//	go run ./bench quality --leave-out "read ahead" --against with.csv
//
// With --intervals N every case is planned with N intervals.
//
// The comparison fails, with exit status 1, if the geometric mean of new ÷ old is above
// --mean, a case is above --worst, or a case does not fit any more.
//
// The cases are in cases.csv, with budgets in bytes. table.csv has their results, recorded with
// --record bench/quality/table.csv. An interrupted recording is continued with
// --from PART --record FILE. To compare two builds on random cases, pass the cases as a file:
//
//	go run ./bench quality --random 20 --seed 7 > random.csv
//	old/bench quality --cases random.csv --record old.csv
//	new/bench quality --cases random.csv --against old.csv --mean 1.01 --worst 1.05
//
// Every case is planned by a process of its own, one after the other, so that its CPU
// seconds and its peak memory are those of saga plan.
package quality

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/tune"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// Command is bench quality.
type Command struct {
	Cases     string  `placeholder:"FILE" help:"File of cases; default: those committed."`
	Only      string  `name:"run" placeholder:"REGEXP" help:"Only cases whose name matches."`
	Record    string  `placeholder:"FILE" help:"Write results to this file, each as it comes."`
	From      string  `placeholder:"FILE" help:"Take results from this table where it has them, instead of planning."`
	Against   string  `placeholder:"FILE" help:"Compare with this table."`
	Mean      float64 `default:"1" placeholder:"X" help:"Largest geometric mean of new ÷ old (${default})."`
	Worst     float64 `default:"1.03" placeholder:"X" help:"Largest new ÷ old of a case (${default})."`
	Random    int     `placeholder:"N" help:"Instead: print so many random cases."`
	Seed      uint64  `default:"1" placeholder:"N" help:"That they are drawn from (${default})."`
	LeaveOut  string  `placeholder:"MOVE" help:"Search without this move (dataflow/tune/moves.go)."`
	Intervals int     `placeholder:"N" help:"Plan with so many intervals; 0: as many as the search chooses."`
	One       bool    `help:"Instead: plan the case on standard input in this process and print its seconds."`
}

// Run plans the cases.
func (c *Command) Run(*cli.App) error {
	switch {
	case c.LeaveOut != "" && !tune.LeaveOut(c.LeaveOut):
		return cli.Usagef("--leave-out: the search has no move %q", c.LeaveOut)
	case c.One:
		return planOne(os.Stdin, os.Stdout, c.Intervals)
	case c.Random > 0:
		return printDrawn(os.Stdout, c.Random, c.Seed)
	}
	return c.table(os.Stdout)
}

// seconds plans p as saga plan does and returns the simulated seconds of an epoch, or 0
// if the budget is too small.
func (p *problem) seconds(intervals int) (float64, error) {
	m, err := layers.New(p.model, layers.Options{Features: p.features, Classes: p.classes, Hidden: p.hidden, Layers: p.layers})
	if err != nil {
		return 0, err
	}
	shape := saga.Shape{Vertices: int(p.vertices), Edges: p.edges, Features: p.features, Classes: p.classes, Skew: p.skew}
	prog, err := saga.Plan(m, shape, saga.Config{Device: fmt.Sprintf("cpu:%d", p.devices), Machine: p.machine, Mem: p.mem, Chunks: intervals,
		Schedule: plan.Auto, Save: saga.SaveAuto, Without: p.passes()})
	var small *plan.BudgetError
	if errors.As(err, &small) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return prog.Predicted().Seconds(), nil
}

// planOne is what the process of one case does.
func planOne(in io.Reader, out io.Writer, intervals int) error {
	list, err := readProblems("standard input", in)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("standard input has %d cases, want one", len(list))
	}
	s, err := list[0].seconds(intervals)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%.9f\n", s)
	return err
}

// plan plans p in a process of its own, as o says.
func (p *problem) plan(o *Command) (*result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var in, out bytes.Buffer
	if err := writeRows(&in, strings.Split(problemHead, ","), row(p.fields())); err != nil {
		return nil, err
	}
	c := exec.Command(self, "quality", "--one", "--leave-out="+o.LeaveOut, "--intervals", fmt.Sprint(o.Intervals))
	c.Stdin, c.Stdout, c.Stderr = &in, &out, os.Stderr
	start := time.Now()
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	r := &result{name: p.name, wall: hundredths(time.Since(start)), cpu: hundredths(c.ProcessState.UserTime() + c.ProcessState.SystemTime())}
	if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = int64(use.Maxrss) << 10 // Linux counts KiB
	}
	if _, err := fmt.Sscan(out.String(), &r.seconds); err != nil {
		return nil, fmt.Errorf("%s: the process printed %q, want seconds", p.name, out.String())
	}
	return r, nil
}

func hundredths(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// command is the saga plan command that plans p.
func (p *problem) command() string {
	text := fmt.Sprintf("saga plan --shape vertices=%d,edges=%d,features=%d,classes=%d,skew=%v --model %s --hidden %d --layers %d --machine %s --devices %d --mem %d",
		p.vertices, p.edges, p.features, p.classes, p.skew, p.model, p.hidden, p.layers, p.machine, p.devices, p.mem)
	if p.without != "" {
		text += " --without " + strings.ReplaceAll(p.without, " ", ",")
	}
	return text
}

// writeRows writes rows as comma-separated values, at once.
func writeRows(w io.Writer, rows ...[]string) error {
	out := csv.NewWriter(w)
	return out.WriteAll(rows)
}

func printDrawn(w io.Writer, n int, seed uint64) error {
	list, err := draw(n, seed)
	if err != nil {
		return err
	}
	rows := [][]string{strings.Split(problemHead, ",")}
	for _, p := range list {
		rows = append(rows, row(p.fields()))
	}
	return writeRows(w, rows...)
}

// table plans the cases and prints, records and compares the results as they come.
func (o *Command) table(w io.Writer) error {
	problems, err := o.problems()
	if err != nil {
		return err
	}
	have, err := load(o.From)
	if err != nil {
		return err
	}
	old, err := load(o.Against)
	if err != nil {
		return err
	}
	record := io.Discard
	if o.Record != "" {
		f, err := os.Create(o.Record)
		if err != nil {
			return err
		}
		defer f.Close()
		record = f
	}
	if err := writeRows(record, strings.Split(resultHead, ",")); err != nil {
		return err
	}
	c := newComparison(w, old)
	for _, p := range problems {
		r := have[p.name]
		if r == nil {
			if r, err = p.plan(o); err != nil {
				return err
			}
		}
		if err := writeRows(record, row(r.fields())); err != nil {
			return err
		}
		c.add(p, r)
	}
	return c.verdict(o.Mean, o.Worst)
}

// problems are the selected cases.
func (o *Command) problems() ([]*problem, error) {
	name, text := "cases.csv", frozen
	if o.Cases != "" {
		b, err := os.ReadFile(o.Cases)
		if err != nil {
			return nil, err
		}
		name, text = o.Cases, string(b)
	}
	all, err := readProblems(name, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	match, err := regexp.Compile(o.Only)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	var list []*problem
	for _, p := range all {
		if match.MatchString(p.name) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no case matches --run %s", o.Only)
	}
	return list, nil
}

// load reads a table of results; nil if path is "".
func load(path string) (map[string]*result, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readResults(path, f)
}

// Quality plans a fixed list of cases from statistics. It reports the quality of the plans as the
// simulated seconds of an epoch, and the time and memory of planning.
//
//	go run ./bench/quality -record FILE                      # plan all cases, write a table
//	go run ./bench/quality -against bench/quality/table.csv  # plan all, compare with a table
//	go run ./bench/quality -run ^time/                       # the cases that bound planning time
//	go run ./bench/quality -from NEW -against OLD            # compare two tables, plan what NEW lacks
//
// To measure what a move of the search gains, compare planning without it with a table made with it:
//
//	go run ./bench/quality -record with.csv
//	go run ./bench/quality -leave-out "read ahead" -against with.csv
//
// With -intervals N every case is planned with N intervals.
//
// The comparison fails, with exit status 1, if the geometric mean of new ÷ old is above
// -mean, a case is above -worst, or a case does not fit any more.
//
// The cases are in cases.csv, with budgets in bytes. table.csv has their results, recorded with
// -record bench/quality/table.csv. An interrupted recording is continued with
// -from PART -record FILE. To compare two builds on random cases, pass the cases as a file:
//
//	go run ./bench/quality -random 20 -seed 7 > random.csv
//	old/quality -cases random.csv -record old.csv
//	new/quality -cases random.csv -against old.csv -mean 1.01 -worst 1.05
//
// Every case is planned by a process of its own, one after the other, so that its CPU
// seconds and its peak memory are those of saga plan.
package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/tune"
	"sagann/layers"
	"sagann/saga"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("quality: ")
	o := options{}
	flag.StringVar(&o.cases, "cases", "", "file of cases; empty: those committed")
	flag.StringVar(&o.run, "run", "", "only cases whose name matches this regular expression")
	flag.StringVar(&o.record, "record", "", "write results to this file, each as it comes")
	flag.StringVar(&o.from, "from", "", "take results from this table where it has them, instead of planning")
	flag.StringVar(&o.against, "against", "", "compare with this table")
	flag.Float64Var(&o.mean, "mean", 1, "largest geometric mean of new ÷ old")
	flag.Float64Var(&o.worst, "worst", 1.03, "largest new ÷ old of a case")
	random := flag.Int("random", 0, "instead: print so many random cases")
	seed := flag.Uint64("seed", 1, "that they are drawn from")
	flag.StringVar(&o.leaveOut, "leave-out", "", "search without this move (dataflow/tune/moves.go)")
	flag.IntVar(&o.intervals, "intervals", 0, "plan with so many intervals; 0: as many as the search chooses")
	one := flag.Bool("one", false, "instead: plan the case on standard input in this process and print its seconds")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case o.leaveOut != "" && !tune.LeaveOut(o.leaveOut):
		err = fmt.Errorf("-leave-out: the search has no move %q", o.leaveOut)
	case *one:
		err = planOne(os.Stdin, os.Stdout, o.intervals)
	case *random > 0:
		err = printDrawn(os.Stdout, *random, *seed)
	default:
		err = o.table(os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
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

// planOne is the main function of the process of one case.
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
func (p *problem) plan(o *options) (*result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var in, out bytes.Buffer
	if err := writeRows(&in, strings.Split(problemHead, ","), row(p.fields())); err != nil {
		return nil, err
	}
	c := exec.Command(self, "-one", "-leave-out", o.leaveOut, "-intervals", fmt.Sprint(o.intervals))
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

// options say which cases are planned and how the results are used.
type options struct {
	cases, run, record, from, against, leaveOut string
	intervals                                   int
	mean, worst                                 float64
}

// table plans the cases and prints, records and compares the results as they come.
func (o *options) table(w io.Writer) error {
	problems, err := o.problems()
	if err != nil {
		return err
	}
	have, err := load(o.from)
	if err != nil {
		return err
	}
	old, err := load(o.against)
	if err != nil {
		return err
	}
	record := io.Discard
	if o.record != "" {
		f, err := os.Create(o.record)
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
	return c.verdict(o.mean, o.worst)
}

// problems are the selected cases.
func (o *options) problems() ([]*problem, error) {
	name, text := "cases.csv", frozen
	if o.cases != "" {
		b, err := os.ReadFile(o.cases)
		if err != nil {
			return nil, err
		}
		name, text = o.cases, string(b)
	}
	all, err := readProblems(name, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	match, err := regexp.Compile(o.run)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var list []*problem
	for _, p := range all {
		if match.MatchString(p.name) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no case matches -run %s", o.run)
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

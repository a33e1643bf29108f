// Package mine measures pattern mining. By default it runs one counting job as a process of its own, so that it can be
// compared with other programs by the CPU seconds of the whole process:
//
//	go build -o bin/ ./bench
//	bin/bench counting --data blogcatalog/ --pattern clique5 --threads 1
//	bin/bench counting --data blogcatalog/ --pattern clique5 --threads 1 --repeat 5 --peer "./other blogcatalog 5"
//
//	bin/bench counting --device cuda
//
// With --device it prints the times of kernels on R-MAT graphs, and the bars they must reach. With --repeat it starts
// itself and each peer in turn. It prints the least CPU seconds of each, and the ratio of each peer's to its own.
package mine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/mine"
)

// Command is bench counting.
type Command struct {
	Data    string   `placeholder:"PATH" help:"The graph, edges in both directions."`
	Pattern string   `default:"triangle" placeholder:"PATTERN" help:"What is counted (${default})."`
	Engine  string   `default:"auto" placeholder:"NAME" help:"Engine that counts; with --engines, auto: all engines (${default})."`
	Threads int      `default:"1" placeholder:"N" help:"Number of threads (${default})."`
	Induced bool     `help:"Count induced subgraphs."`
	Parts   bool     `help:"Also print the CPU seconds of reading, of making rows, of planning and of counting."`
	Repeat  int      `placeholder:"N" help:"How often to start the job and its peers; 0: run it here, once."`
	Peer    []string `sep:"none" placeholder:"COMMAND" help:"A command that does the same job; may be given several times."`

	Scales  []int    `default:"20,21,22" placeholder:"N" help:"R-MAT graphs have 2^N vertices (${default})."`
	Loops   []string `default:"q1,q2,q3,house,cycle5" placeholder:"PATTERN" help:"With --device: the patterns of job l, with --scaling all patterns; q1 to q3 are those of GAMMA's Figure 13 (${default})."`
	Scaling []int    `placeholder:"N" help:"Instead: how long counting takes with each number of threads, such as 1,16, on R-MAT graphs of --scales."`
	Engines []string `placeholder:"PATTERN" help:"Instead: the measured and the expected time of each engine, for patterns such as triangle,clique4, on --data or on R-MAT graphs of --scales."`
	Most    float64  `default:"10" placeholder:"S" help:"With --engines and loops: what is expected to take more seconds is not run (${default})."`
	Stop    float64  `placeholder:"S" help:"With --engines: seconds after which a count is given up; 0: never."`

	onGPU
}

// onGPU is the flags of kernel times.
type onGPU struct {
	Device string `placeholder:"NAME" help:"GPUs, such as cuda or cuda:0,1. Without --engines: kernel times of R-MAT graphs."`
	Jobs   string `default:"csh" placeholder:"LETTERS" help:"With --device: c cliques, s sums, h rows in host memory, l loops, i listings, d graphs of 5 to 20 edges a vertex, w fewer warps, 5 cycles of five vertices (${default})."`
	GiB    int64  `name:"gib" default:"64" placeholder:"N" help:"With --device: memory taken on each GPU, in GiB (${default})."`
	CPU    bool   `name:"cpu" help:"With --device: also count loops and cycles of five vertices with 16 threads of the CPU; with --support find the patterns on the CPU, too."`
	Find   find   `embed:""`
}

// find is the flags of what is measured instead of counts: frequent patterns, sorts.
type find struct {
	Sort     int64  `placeholder:"N" help:"With --device: sort so many keys of 64 bits, in host memory, with --gib of the GPU's memory instead."`
	Support  int64  `placeholder:"N" help:"Find frequent patterns of --data with this least support instead."`
	Edges    int    `default:"3" placeholder:"N" help:"With --support: most edges of a pattern, to 7 (${default})."`
	Tables   bool   `help:"With --device: count all connected sets of --edges edges of --data by labels instead (engine tables); with --cpu compare with the CPU."`
	Least    bool   `help:"With --tables: in the least memory beside the graph."`
	Stored   bool   `help:"With --tables: store the sets, with all memory, with a quarter of their bytes on each GPU, and with half of them in host memory, too, and count them by a key."`
	Scratch  string `placeholder:"DIR" help:"With --stored: folder for what has no room in memory."`
	Vertices int    `placeholder:"N" help:"With --support and without --device: most vertices of a pattern, with any number of edges."`
}

// Run measures what the flags say.
func (c *Command) Run(a *cli.App) error {
	for _, n := range append(c.Scales, c.Scaling...) {
		if n < 1 {
			return cli.Usagef("--scales and --scaling: %d is no number from 1 on", n)
		}
	}
	switch {
	case c.Find.Sort < 0 || c.Threads < 1:
		return cli.Usagef("--sort and --threads are at least 1")
	case c.Find.Support < 0 || c.Find.Edges < 1 || c.Find.Edges > 7 || c.Find.Vertices < 0 || c.Find.Vertices > 8:
		return cli.Usagef("--support is at least 1, --edges 1 to 7, --vertices to 8")
	case len(c.Engines) > 0 && !slices.Contains(compared, mine.Engine(c.Engine)):
		return cli.Usagef("--engines compares auto, formula, bits, maps and loops, and not --engine %s", c.Engine)
	case strings.Trim(c.Jobs, "cshlid5w") != "":
		return cli.Usagef("--jobs %s: letters of c, s, h, l, i, d, 5 and w", c.Jobs)
	case len(c.Engines) > 0:
		return c.engineTable()
	case c.Device != "":
		return c.gpuTable()
	case len(c.Scaling) > 0:
		return c.scaling()
	case c.Repeat > 0:
		return compare(c.Repeat, c.Peer)
	case c.Find.Support > 0:
		a.Idle("frequent patterns", "engine", "pattern", "induced", "parts")
		return c.patterns()
	}
	return c.count()
}

// count does the job.
func (c *Command) count() error {
	times := []float64{measure.CPUSeconds()}
	p, err := mine.ParsePattern(queries(c.Pattern))
	if err != nil {
		return err
	}
	d, err := dataset.Open(c.Data, dataset.Options{})
	if err != nil {
		return err
	}
	times = append(times, measure.CPUSeconds())
	g, err := mine.Open(d.Edges, mine.Options{Labels: d.Labels, Engine: mine.Engine(c.Engine), Threads: c.Threads})
	if err != nil {
		return err
	}
	times = append(times, measure.CPUSeconds())
	var options []mine.Option
	if c.Induced {
		options = append(options, mine.Induced)
	}
	prepared, err := g.Prepare(p, options...)
	if err != nil {
		return err
	}
	times = append(times, measure.CPUSeconds())
	n, err := prepared.Count(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(n)
	if c.Parts {
		fmt.Printf("start %.4f s", times[0])
		for i, name := range []string{"reading", "rows", "order and plan", "counting"} {
			fmt.Printf(", %s %.4f", name, append(times, measure.CPUSeconds())[i+1]-times[i])
		}
		fmt.Println()
	}
	return nil
}

// patterns finds frequent patterns on the CPU.
func (c *Command) patterns() error {
	d, err := dataset.Open(c.Data, dataset.Options{Undirected: true})
	if err != nil {
		return err
	}
	g, err := mine.Open(d.Edges, mine.Options{Labels: d.Labels, Threads: c.Threads})
	if err != nil {
		return err
	}
	q := mine.Frequency{Support: c.Find.Support, Edges: c.Find.Edges}
	if c.Find.Vertices > 0 {
		q.Edges, q.Vertices = 0, c.Find.Vertices
	}
	found, err := g.Frequent(context.Background(), q)
	if err != nil {
		return err
	}
	fmt.Println(len(found), "patterns")
	return nil
}

// compare starts the jobs in turn and prints the least time of each.
func compare(repeat int, others []string) error {
	jobs := [][]string{os.Args}
	for _, p := range others {
		jobs = append(jobs, strings.Fields(p))
	}
	least := make([]time.Duration, len(jobs))
	for range repeat {
		for i, job := range jobs {
			c := exec.Command(job[0], job[1:]...)
			if i == 0 { // this program, without repeating; the last --repeat counts
				c.Args = append(c.Args, "--repeat", "0")
			}
			c.Stderr = os.Stderr
			if err := c.Run(); err != nil {
				return fmt.Errorf("%s: %w", strings.Join(job, " "), err)
			}
			if took := c.ProcessState.UserTime() + c.ProcessState.SystemTime(); least[i] == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	for i, job := range jobs {
		fmt.Printf("%8.3f s  %6.2f×  %s\n", least[i].Seconds(), least[i].Seconds()/least[0].Seconds(), strings.Join(job, " "))
	}
	return nil
}

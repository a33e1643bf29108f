// Command mine runs one counting job as a process of its own, so that it can be compared with other
// programs by the CPU seconds of the whole process:
//
//	go build -o bench-mine ./bench/mine
//	bench-mine -data blogcatalog/ -pattern clique5 -threads 1
//	bench-mine -data blogcatalog/ -pattern clique5 -threads 1 -repeat 5 -peer "./other blogcatalog 5"
//
//	bench-mine -device cuda
//
// With -device it prints the times of kernels on R-MAT graphs, and the bars they must reach. With -repeat it starts
// itself and each peer in turn. It prints the least CPU seconds of each, and the ratio of each peer's to its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/mine"
)

// peers are commands of other programs that do the same job.
type peers []string

// String lists them.
func (p *peers) String() string { return strings.Join(*p, "; ") }

// Set adds one.
func (p *peers) Set(s string) error { *p = append(*p, s); return nil }

func main() {
	log.SetFlags(0)
	var others peers
	data := flag.String("data", "", "the graph, edges in both directions")
	text := flag.String("pattern", "triangle", "what is counted")
	engine := flag.String("engine", "auto", "engine that counts; with -engines, auto: all engines")
	threads := flag.Int("threads", 1, "number of threads")
	induced := flag.Bool("induced", false, "count induced subgraphs")
	repeat := flag.Int("repeat", 0, "how often to start the job and its peers; 0: run it here, once")
	flag.Var(&others, "peer", "a command that does the same job; may be given several times")
	gpu := flag.String("device", "", "GPUs, such as cuda or cuda:0,1: print a table of kernel times of R-MAT graphs")
	scales := flag.String("scales", "20,21,22", "with -device: the graphs have 2^scale vertices")
	jobs := flag.String("jobs", "csh", "with -device: c cliques, s sums, h rows in host memory, l loops, i listings, d graphs of 5 to 20 edges a vertex, 5 cycles of five vertices")
	gib := flag.Int64("gib", 64, "with -device: memory taken on each GPU, in GiB")
	loops := flag.String("loops", "q1,q2,q3,house,cycle5", "with -device: the patterns of job l, with -scaling all patterns; q1 to q3 are those of GAMMA's Figure 13")
	cpu := flag.Bool("cpu", false, "with -device: also count loops and cycles of five vertices with 16 threads of the CPU")
	threadCounts := flag.String("scaling", "", "numbers of threads, such as 1,16: print how long counting takes with each on R-MAT graphs of -scales")
	parts := flag.Bool("parts", false, "also print the CPU seconds of reading, of making rows, of planning and of counting")
	engines := flag.String("engines", "", "patterns, such as triangle,clique4: print the measured and the expected time of each engine, on -data or on R-MAT graphs of -scales")
	flag.Float64Var(&tooLong, "most", tooLong, "with -engines and loops: what is expected to take more seconds is not run")
	flag.Float64Var(&stop, "stop", stop, "with -engines: seconds after which a count is given up")
	flag.Parse()
	var err error
	if *engines != "" {
		err = engineTable(*data, *scales, *engines, *gpu, *threads, mine.Engine(*engine))
	} else if *gpu != "" {
		err = gpuTable(*gpu, *scales, *gib, *jobs, *loops, *cpu)
	} else if *threadCounts != "" {
		err = scaling(*scales, *threadCounts, *loops)
	} else if *repeat > 0 {
		err = compare(*repeat, others)
	} else {
		err = count(*data, *text, mine.Engine(*engine), *threads, *induced, *parts)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// count does the job.
func count(data, text string, engine mine.Engine, threads int, induced, parts bool) error {
	times := []float64{cpuSeconds()}
	p, err := mine.ParsePattern(queries(text))
	if err != nil {
		return err
	}
	d, err := dataset.Open(data, dataset.Options{})
	if err != nil {
		return err
	}
	times = append(times, cpuSeconds())
	g, err := mine.Open(d.Edges, mine.Options{Labels: d.Labels, Engine: engine, Threads: threads})
	if err != nil {
		return err
	}
	times = append(times, cpuSeconds())
	var options []mine.Option
	if induced {
		options = append(options, mine.Induced)
	}
	prepared, err := g.Prepare(p, options...)
	if err != nil {
		return err
	}
	times = append(times, cpuSeconds())
	n, err := prepared.Count(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(n)
	if parts {
		fmt.Printf("start %.4f s", times[0])
		for i, name := range []string{"reading", "rows", "order and plan", "counting"} {
			fmt.Printf(", %s %.4f", name, append(times, cpuSeconds())[i+1]-times[i])
		}
		fmt.Println()
	}
	return nil
}

// compare starts the jobs in turn and prints the least time of each.
func compare(repeat int, others peers) error {
	jobs := [][]string{os.Args}
	for _, p := range others {
		jobs = append(jobs, strings.Fields(p))
	}
	least := make([]time.Duration, len(jobs))
	for range repeat {
		for i, job := range jobs {
			c := exec.Command(job[0], job[1:]...)
			if i == 0 { // this program, without repeating; the last -repeat counts
				c.Args = append(c.Args, "-repeat", "0")
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

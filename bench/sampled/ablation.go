package sampled

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/dataset"
	"sagann/saga"
)

// part is one of parts.
type part struct {
	without string
	cache   float64 // see epochs
	name    string
}

// parts are the optimisations that can be left out, with where the features lie when each is measured and what the
// part is for. Parts with features on the GPU come first and share one program with all parts; those with
// features in host memory share another. In each group, the part that takes most memory comes last.
var parts = []part{
	{"draw", 0, "the card draws and renumbers"},
	{"in-place", 0, "kernels read rows of features where they lie"},
	{"fuse", 0, "aggregation: one kernel reads rows, computes on edges and sums"},
	{"match", -1, "match: rows of the batches before stay on the card"},
	{"stream", -1, "batches come ahead: drawn and copied while one computes"},
}

// side is a program of the ablation, and its measurements.
type side struct {
	part    int     // index in parts of the part that is left out; below 0: none
	cache   float64 // see epochs
	program *saga.Program
	err     error     // why there is no program
	rounds  []float64 // by round: the mean milliseconds of an epoch
	ms      []float64 // by timed epoch: milliseconds
	bits    []uint64  // by epoch, also those that are not timed: a hash of the losses
	cut     bool      // an epoch was cut short
	of      int       // number of batches of the last epoch
	slow    bool      // it is too slow to be timed again
}

// roundEpochs are the timed epochs of a round. An epoch that is not timed comes before them, as it uses batches that were
// drawn ahead while another side had its turn.
const roundEpochs = 2

// An epoch that takes mostTimes times as long as one with every part is cut short, and its time is extrapolated from the
// batches it had. This is accurate enough, and saves GPU time.
const mostTimes = 20

// ablate times epochs with every part, and without each of the parts in left, in turns. It prints a row for each part,
// model and graph.
func (e *epochs) ablate(graphs, models, left []string) error {
	// Several programs are open at the same time, each with queues of its own. By default a process has only eight
	// hardware connections, and further queues would wait for each other.
	if err := os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32"); err != nil {
		return err
	}
	fmt.Println("In ms: medians of epochs, and the least and the most. The bar holds where with is at most 1.02 times without plus with's spread.")
	fmt.Printf("All sides of a graph, a model and a place of features have their turns in one process, %d epochs of each after one that is not timed. Without a part an epoch is\n", roundEpochs)
	fmt.Printf("timed no more where those of the first round have taken half as long again; one of %d times with's is cut, and what it would have taken follows from its batches.\n", mostTimes)
	fmt.Println()
	header("graph", "model", "left out", "features", "batches", "ms with", "spread", "ms without", "spread", "epochs without", "without over with", "by round", "bar", "losses", "drawn by")
	for _, name := range graphs {
		var err error
		if e.of, err = (&graphFlags{Shape: name}).sizes(); err != nil {
			return err
		}
		start := time.Now()
		d := e.graph()
		note("%s: generated in %.1f s", name, time.Since(start).Seconds())
		for _, e.model = range models {
			if err := e.leaveOut(name, d, left); err != nil {
				return fmt.Errorf("%s, %s: %w", name, e.model, err)
			}
		}
	}
	return nil
}

// leaveOut prints the rows of a model on a graph.
func (e *epochs) leaveOut(graph string, d *dataset.Data, left []string) error {
	var all []*side
	for _, cache := range []float64{0, -1} {
		with := len(all)
		for i, x := range parts {
			if x.cache == cache && slices.Contains(left, x.without) {
				if len(all) == with {
					all = append(all, &side{part: -1, cache: cache})
				}
				all = append(all, &side{part: i, cache: cache})
			}
		}
	}
	start := time.Now()
	if _, _, _, err := e.sampling(d); err != nil { // sorts the rows, which all share
		return err
	}
	sorted := time.Now()
	chunk.Each(len(all), func(i int) {
		s, x := all[i], *e
		if x.cache = s.cache; s.part < 0 {
			s.program, s.err = x.program(d)
		} else {
			s.program, s.err = x.program(d, parts[s.part].without)
		}
	})
	note("%s: rows sorted in %.1f s, %d programs compiled in %.1f s", e.model, sorted.Sub(start).Seconds(), len(all), time.Since(sorted).Seconds())
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].part >= 0 {
			n++
		}
		err := take(all[:n], max(1, e.Epochs/roundEpochs))
		for _, s := range all[:n] {
			if s.part >= 0 && (err == nil || len(s.ms) > 0) {
				s.print(graph, e.model, all[0])
			}
			if s.program != nil {
				err = errors.Join(err, s.program.Close())
			}
		}
		if all = all[n:]; err != nil {
			return err
		}
		fresh()
	}
	return nil
}

// take runs the sides in turn, for so many rounds. The first side has every part.
func take(sides []*side, rounds int) error {
	for _, s := range sides {
		start := time.Now()
		if s.err == nil {
			_, s.err = s.program.Step() // the first step opens the program
		}
		if s.err != nil {
			if s.slow = true; s.part < 0 {
				return s.err
			}
			continue
		}
		p := s.program.SampledPlan()
		note("  %s: opened in %.1f s, %.3f s an epoch predicted, %d MiB of the device", s.name(), time.Since(start).Seconds(), s.program.PredictedEpoch().Seconds(), p.Device>>20)
	}
	for range rounds {
		for _, s := range sides {
			if err := s.round(sides[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// name is the side's name in messages.
func (s *side) name() string {
	where := map[bool]string{true: "host", false: "card"}[s.cache < 0]
	if s.part < 0 {
		return "features on the " + where + ", all parts"
	}
	return "features on the " + where + ", without " + parts[s.part].without
}

// note prints a progress message to standard error.
func note(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// round is a turn of a side.
func (s *side) round(with *side) error {
	if s.slow {
		return nil
	}
	if err := quiet(); err != nil {
		return err
	}
	enough := time.Duration(math.MaxInt64)
	if s != with {
		enough = time.Duration(mostTimes * with.rounds[0] * float64(time.Millisecond))
	}
	sum, timed := 0.0, 0
	for n := range roundEpochs + 1 {
		batches := s.program.SampledPlan().Batches
		if len(s.rounds) == 0 && n == 0 {
			batches-- // the first batch was run when the program was opened
		}
		t, err := epoch(s.program, batches, enough)
		if err != nil {
			return err
		}
		if s.cut = s.cut || t.steps < batches; !s.cut {
			s.bits = append(s.bits, t.bits)
		}
		if n > 0 {
			s.of = t.steps
			ms := 1e3 * t.wall.Seconds() / float64(t.steps) * float64(s.program.SampledPlan().Batches)
			s.ms, sum, timed = append(s.ms, ms), sum+ms, timed+1
		}
		if n > 0 && s.cut {
			break
		}
	}
	s.rounds = append(s.rounds, sum/float64(timed))
	s.slow = s.rounds[0] > 1.5*with.rounds[0]
	return nil
}

// quiet waits until the process is idle: the previous side still draws batches ahead on all processors.
func quiet() error {
	const look = 20 * time.Millisecond
	for range 500 {
		before := measure.CPUSeconds()
		time.Sleep(look)
		if measure.CPUSeconds()-before < 0.1*look.Seconds() {
			return nil
		}
	}
	return errors.New("batches are still drawn after ten seconds")
}

// print prints the row of a side, compared with the side that has all parts.
func (s *side) print(graph, model string, with *side) {
	x := parts[s.part]
	if s.err != nil {
		row(graph, model, x.name, s.err)
		return
	}
	var ratios []float64
	for i, x := range s.rounds {
		ratios = append(ratios, x/with.rounds[i])
	}
	slices.Sort(ratios)
	plan := s.program.SampledPlan()
	losses, epochs := "equal", fmt.Sprint(len(s.ms))
	if !slices.Equal(s.bits, with.bits[:len(s.bits)]) {
		losses = "differ"
	}
	if s.cut {
		losses, epochs = "", fmt.Sprintf("%d batches", s.of)
	}
	slices.Sort(with.ms)
	slices.Sort(s.ms)
	a, b := measure.Median(with.ms), measure.Median(s.ms)
	verdict := "holds"
	if a > b*(1.02+(with.ms[len(with.ms)-1]-with.ms[0])/a) {
		verdict = "does not"
	}
	row(graph, model, x.name, map[bool]string{true: "host", false: "card"}[x.cache < 0], plan.Batches, fmt.Sprintf("%.1f", a), least(with.ms), fmt.Sprintf("%.1f", b), least(s.ms),
		epochs, fmt.Sprintf("%.3f", b/a), fmt.Sprintf("%.3f–%.3f", ratios[0], ratios[len(ratios)-1]), verdict, losses, map[bool]string{true: "card", false: "host"}[plan.Drawn])
}

// least is the range of an ascending list as text.
func least(list []float64) string { return fmt.Sprintf("%.1f–%.1f", list[0], list[len(list)-1]) }

// header prints the head of a table.
func header(cells ...any) {
	row(cells...)
	fmt.Println(strings.Repeat("|---", len(cells)) + "|")
}

// row prints a row of a table.
func row(cells ...any) {
	for _, c := range cells {
		fmt.Printf("| %v ", c)
	}
	fmt.Println("|")
}

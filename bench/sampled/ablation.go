package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/saga"
)

// parts are what can be left out, where features lie for it, and what that is for. Those with features on the card come first: they share
// programs that have every part, as those without do.
var parts = []struct {
	without string
	cache   float64 // as epochs has it
	name    string
}{
	{"fuse", 0, "aggregation: one kernel reads rows, computes on edges and sums"},
	{"draw", 0, "the card draws and renumbers"},
	{"match", -1, "match: rows of the batches before stay on the card"},
	{"stream", -1, "batches come ahead: drawn and copied while one computes"},
}

// side is a program of the ablation, and what was seen of it.
type side struct {
	part    int // that is left out, by its place in parts; below 0: none
	program *saga.Program
	rounds  []float64 // milliseconds of an epoch, the mean of a round's
	ms      []float64 // of every epoch
	bits    []uint64  // of all losses of every epoch, also of those that are not timed
	drawn   bool      // the device draws
	slow    bool      // so that it is timed no more
}

// roundEpochs are the timed epochs of a round. One that is not timed comes before them: batches were drawn ahead while another side had its turn,
// and it takes these.
const roundEpochs = 2

// ablate times epochs with every part and without each of those left out, by turns, and prints a row for each part, model and graph.
func (e *epochs) ablate(graphs, models string, left []string) error {
	// Programs that are open side by side have queues of their own, and by default only eight of a process do not wait for each other.
	if err := os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32"); err != nil {
		return err
	}
	fmt.Println("In ms: medians of epochs, and the least and the most. The bar holds where with is at most 1.02 times without plus with's spread.")
	fmt.Printf("All sides of a graph, a model and a place of features have their turns in one process, %d epochs of each after one that is not timed. Without a part an epoch is\n", roundEpochs)
	fmt.Println("timed no more where those of the first round have taken half as long again. Reorder is not there.")
	fmt.Println()
	header("graph", "model", "left out", "features", "batches", "ms with", "spread", "ms without", "spread", "epochs without", "without over with", "by round", "bar", "losses", "drawn by")
	for name := range strings.SplitSeq(graphs, ",") {
		if err := e.shape(name); err != nil {
			return err
		}
		start := time.Now()
		d := e.graph()
		e.note("%s: generated in %.1f s", name, time.Since(start).Seconds())
		for e.model = range strings.SplitSeq(models, ",") {
			for _, e.cache = range []float64{0, -1} {
				if err := e.leaveOut(name, d, left); err != nil {
					return fmt.Errorf("%s, %s: %w", name, e.model, err)
				}
			}
		}
	}
	return nil
}

// note prints what a run is at, where the table does not go.
func (e *epochs) note(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// leaveOut prints the rows of a model on a graph for the parts where features lie as e says.
func (e *epochs) leaveOut(graph string, d *dataset.Data, left []string) (err error) {
	sides := []*side{{part: -1}}
	for i, x := range parts {
		if x.cache == e.cache && slices.Contains(left, x.without) {
			sides = append(sides, &side{part: i})
		}
	}
	if len(sides) == 1 {
		return nil
	}
	defer func() {
		for _, s := range sides {
			if s.program != nil {
				err = errors.Join(err, s.program.Close())
			}
		}
		fresh()
	}()
	for i, s := range sides {
		if err := e.begin(s, d); i == 0 && err != nil {
			return err
		} else if err != nil {
			row(graph, e.model, parts[s.part].name, err)
			s.slow = true
		}
	}
	for range max(1, e.n/roundEpochs) {
		for _, s := range sides {
			if err := s.round(); err != nil {
				return err
			}
			s.slow = s.slow || s.rounds[0] > 1.5*sides[0].rounds[0]
		}
	}
	for _, s := range sides[1:] {
		if len(s.ms) > 0 {
			s.print(graph, e.model, sides[0])
		}
	}
	return nil
}

// begin compiles the program of a side.
func (e *epochs) begin(s *side, d *dataset.Data) (err error) {
	var without []string
	name := "all parts"
	if s.part >= 0 {
		without, name = []string{parts[s.part].without}, "without "+parts[s.part].without
	}
	start := time.Now()
	if s.program, err = e.program(d, without...); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	compiled := time.Now()
	if _, err := epoch(s.program); err != nil { // which opens it
		return fmt.Errorf("%s: %w", name, err)
	}
	p := s.program.SampledPlan()
	s.drawn = p.Drawn
	e.note("%s, features %g, %s: compiled in %.1f s, opened and first epoch %.1f s, %.2f s predicted; %d batches, %d MB of the device", e.model, e.cache, name, compiled.Sub(start).Seconds(),
		time.Since(compiled).Seconds(), s.program.PredictedEpoch().Seconds(), p.Batches, s.program.DevicePeak()>>20)
	return nil
}

// round is a turn of a side.
func (s *side) round() error {
	if s.slow {
		return nil
	}
	if err := quiet(); err != nil {
		return err
	}
	sum := 0.0
	for n := range roundEpochs + 1 {
		t, err := epoch(s.program)
		if err != nil {
			return err
		}
		if s.bits = append(s.bits, t.bits); n > 0 {
			ms := 1e3 * t.wall.Seconds()
			s.ms, sum = append(s.ms, ms), sum+ms
		}
	}
	s.rounds = append(s.rounds, sum/roundEpochs)
	return nil
}

// quiet waits until the process does nothing: the side before has batches drawn ahead on all processors.
func quiet() error {
	const look = 20 * time.Millisecond
	for range 500 {
		before := used()
		time.Sleep(look)
		if used()-before < 0.1*look.Seconds() {
			return nil
		}
	}
	return errors.New("batches are still drawn after ten seconds")
}

// print is the row of a side beside that which has all parts.
func (s *side) print(graph, model string, with *side) {
	var ratios []float64
	for i, x := range s.rounds {
		ratios = append(ratios, x/with.rounds[i])
	}
	slices.Sort(ratios)
	losses := "equal"
	if !slices.Equal(s.bits, with.bits[:len(s.bits)]) {
		losses = "differ"
	}
	a, b := median(with.ms), median(s.ms) // which sort
	verdict := "holds"
	if a > b*(1.02+(with.ms[len(with.ms)-1]-with.ms[0])/a) {
		verdict = "does not"
	}
	x := parts[s.part]
	row(graph, model, x.name, map[bool]string{true: "host", false: "card"}[x.cache < 0], s.program.SampledPlan().Batches, fmt.Sprintf("%.1f", a), least(with.ms), fmt.Sprintf("%.1f", b), least(s.ms),
		len(s.ms), fmt.Sprintf("%.3f", b/a), fmt.Sprintf("%.3f–%.3f", ratios[0], ratios[len(ratios)-1]), verdict, losses, map[bool]string{true: "card", false: "host"}[s.drawn])
}

// least is the range of an ascending list.
func least(list []float64) string { return fmt.Sprintf("%.1f–%.1f", list[0], list[len(list)-1]) }

// header prints the head of a table.
func header(cells ...any) {
	row(cells...)
	fmt.Println(strings.Repeat("|---", len(cells)) + "|")
}

// row prints a row of it.
func row(cells ...any) {
	for _, c := range cells {
		fmt.Printf("| %v ", c)
	}
	fmt.Println("|")
}

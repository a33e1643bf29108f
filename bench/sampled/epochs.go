package sampled

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/saga"
)

// epochs times whole epochs of training with dropout and Adam.
type epochs struct {
	*Command
	of     graphSizes
	model  string     // of the ablation's row at hand
	cache  float64    // of the side at hand
	sorted sortedRows // shared by all runs
}

// epochs are those of the command.
func (c *Command) epochs() (*epochs, error) {
	of, err := c.Graph.sizes()
	return &epochs{Command: c, of: of, model: c.With.Model, cache: c.With.Cache}, err
}

// run times the run of the flags, and then further ones on the same graph.
func (e *epochs) run() error {
	start := time.Now()
	d := e.graph()
	fmt.Printf("graph: %d vertices, %d edges in %.1f s\n", e.of.vertices, d.Edges.E(), time.Since(start).Seconds())
	if e.Out != "" {
		if err := writeGraph(d, e.Out); err != nil {
			return err
		}
	}
	on := func(name string) error { return e.on(d) }
	if e.Table {
		header("run", "batches", "vertices of one", "epoch, ms", "spread", "drawing, ms", "of the epoch", "by", "link, GB", "rows kept", "device, MB", "losses of epochs", "hash")
		on = func(name string) error { return e.line(d, name) }
	}
	err := on("as flags say")
	if e.Then == "" || err != nil {
		return err
	}
	for text := range strings.SplitSeq(e.Then, ";") {
		c, err := e.again(strings.Fields(text))
		if err != nil {
			return fmt.Errorf("--then %s: %w", text, err)
		}
		x, err := c.epochs()
		if err != nil {
			return fmt.Errorf("--then %s: %w", text, err)
		}
		x.of, x.sorted = e.of, e.sorted
		if text = strings.TrimSpace(text); !c.Table {
			fmt.Printf("\n%s\n", text)
			err = x.on(d)
		} else if err = x.line(d, text); err != nil {
			row(text, err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		fresh()
	}
	return nil
}

// fresh collects the garbage of the previous program, so that the next one does not have to.
func fresh() { runtime.GC() }

// on times epochs over d and prints the measurements of each.
func (e *epochs) on(d *dataset.Data) error {
	start := time.Now()
	p, err := e.program(d)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Overview(os.Stdout); err != nil {
		return err
	}
	s := p.SampledPlan()
	fmt.Printf("compiled in %.1f s; device memory %d bytes, tables %d bytes, next batch comes ahead: %t, drawn there: %t\n", time.Since(start).Seconds(), s.Device, s.Tables, s.Ahead, s.Drawn)
	fmt.Printf("predicted: %.3f s an epoch\n", p.PredictedEpoch().Seconds())
	if err := e.turns(p, func(n int, t turn) error {
		fmt.Printf("epoch %d: %.3f s, %.3f ms an update, loss %.5f (%x); host: %.1f ms a batch drawn on %d processors, steps waited %.3f s; overflows %d\n", n, t.wall.Seconds(),
			1e3*t.wall.Seconds()/float64(s.Batches), t.loss, t.bits, 1e3*(t.now.Drawing-t.before.Drawing).Seconds()/float64(s.Batches), runtime.GOMAXPROCS(0),
			(t.now.Waiting - t.before.Waiting).Seconds(), t.now.Overflows)
		if rows, before := t.now.FarRows, t.before.FarRows; rows != before {
			far, row := float64(rows[0]-before[0]), float64(4*d.FeatureCols)
			fmt.Printf("  %.1f GB over the link, %.1f GB/s; rows %.0f from the host, %d hot, %d of the batch before\n", far*row/1e9, far*row/1e9/t.wall.Seconds(), far, rows[1]-before[1], rows[2]-before[2])
		}
		return nil
	}); err != nil {
		return err
	}
	fmt.Printf("measured peak of device memory: %d bytes\n", p.DevicePeak())
	if !e.Profile {
		return nil
	}
	return printKernels(p)
}

// printKernels prints the time of every kernel of a batch.
func printKernels(p *saga.Program) error {
	list, err := p.KernelTimes()
	if err != nil {
		return err
	}
	var sum time.Duration
	for _, k := range list {
		sum += k.Time
		expected := ""
		if k.Predicted > 0 {
			expected = fmt.Sprintf("%8.1f", 1e6*k.Predicted.Seconds())
		}
		fmt.Printf("%8.1f us %8s  %-28s %s\n", 1e6*k.Time.Seconds(), expected, k.Kernel, k.Task)
	}
	fmt.Println("beside them what all commands of a task are predicted to take, in its first line")
	fmt.Printf("%d commands, %.3f ms\n", len(list), 1e3*sum.Seconds())
	return nil
}

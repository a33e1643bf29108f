package tables

import (
	"fmt"
	"sync/atomic"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/internal/cli"
	"sagann/internal/progress"
	"sagann/saga"
)

// redditMiddle is the shape of the paper's graph of that name.
var redditMiddle = measure.Plan("reddit_middle")

// Schedules is saga bench schedules.
type Schedules struct {
	benchOutput
	Chunks   count    `default:"4" placeholder:"P" help:"Number of intervals (${default})."`
	Prefetch count    `default:"1" placeholder:"N" help:"Chunks loaded ahead in the paper's system (${default}: two buffers take turns); 0: what the simulator finds fastest."`
	Models   []string `type:"lowercase" default:"gcn,commnet,mpgcn,ggcn,ggnn" placeholder:"NAME" help:"Models (${default})."`
	Budgets  []string `default:"1,0.5" placeholder:"PART" help:"With --device: budgets of the runs with everything on, as parts of the memory that the paper's sag run takes (${default})."`
	benchRun
}

// Run prints the tables.
func (c *Schedules) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Chunks < 1 {
		return cli.Usagef("--chunks %d: at least 1", c.Chunks)
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	reserve, err := c.machineOf()
	if err != nil {
		return err
	}
	c.unused(a, "budgets")
	paper := &sheet{key: "paper", title: fmt.Sprintf("The paper's system (--paper): %s, P = %d, prefetch %d, %s", shapeText(redditMiddle), c.Chunks, c.Prefetch, c.Machine)}
	ours := &sheet{key: "ours", title: "Everything on, within the memory that the paper's sag plan takes"}
	for _, s := range []*sheet{paper, ours} {
		s.head = table.Row{"model", "sag GB", "stage GB", "dest-order GB", "stage ÷ sag", "dest-order ÷ sag", "sag ms", "stage ms", "dest-order ms", "sag faster than stage by", "than dest-order by", "up ÷ down of stage"}
	}
	without := cli.PaperWithout()
	bar, done := progress.New(a.Stderr, 2*len(schedules)*len(c.Models), "plan"), atomic.Int64{}
	step := func(what string) { bar.Set(int(done.Add(1)), what) }
	for _, name := range c.Models {
		first, err := c.row(paper, name, saga.Config{Chunks: int(c.Chunks), Prefetch: int(c.Prefetch), Without: without, Save: cli.PaperSave}, step)
		if err != nil {
			return err
		}
		if _, err := c.row(ours, name, saga.Config{Mem: reserve + first.plan.Peak}, step); err != nil {
			return err
		}
	}
	bar.Finish()
	for _, s := range []*sheet{paper, ours} {
		s.total(len(c.Models))
	}
	paper.notes = []string{"The paper's Figure 14, measured on its server: sag faster than stage by 24.9–35.1 %, than dest-order by 60.1–93.1 %.",
		scheduleReason}
	sheets := []*sheet{paper, ours}
	if c.Device != "" {
		run, err := c.run(a, without, parts)
		if err != nil {
			return err
		}
		sheets = append(sheets, run...)
	}
	last := sheets[len(sheets)-1]
	last.notes = append(last.notes, processorTime())
	return c.print(a, sheets...)
}

const scheduleReason = "GB are those of both directions, an epoch. A time ratio below the ratio of bytes means that the extra bytes hid: accumulators go back to the host (D2H) while sources come in (H2D), and this link carries both at once, or kernels take longer than copies."

// row simulates the three schedules and calls step after each; it returns sag's.
func (c *Schedules) row(s *sheet, name string, cfg saga.Config, step func(what string)) (*measured, error) {
	var m [3]*measured
	err := each(len(schedules), func(i int) (err error) {
		one := cfg
		one.Schedule = schedules[i].name
		if m[i], err = c.simulate(name, redditMiddle, one); err != nil {
			return fmt.Errorf("schedule %s: %w", one.Schedule, err)
		}
		step(name + " " + one.Schedule)
		return nil
	})
	if err != nil {
		return nil, err
	}
	row, data := table.Row{name}, fields{{"model", name}, {"chunks", m[0].plan.Cells.P}}
	for i, schedule := range []string{"sag", "stage", "dest_order"} {
		row = append(row, fmt.Sprintf("%.2f", float64(m[i].moved())/1e9))
		data = append(data, field{schedule, fields{{"h2d_bytes", m[i].plan.H2D}, {"d2h_bytes", m[i].plan.D2H}, {"chunks", m[i].plan.Cells.P},
			{"seconds", m[i].seconds()}, {"compute_seconds", m[i].line.ComputeSeconds()}, {"exposed_transfer_seconds", m[i].line.ExposedSeconds()}}})
	}
	for _, other := range m[1:] {
		if m[0].moved() == 0 {
			row = append(row, "–")
			continue
		}
		row = append(row, ratio(other.moved(), m[0].moved()))
	}
	for i := range m {
		row = append(row, ms(m[i].seconds()))
	}
	for _, other := range m[1:] {
		row = append(row, percent(faster(other.seconds(), m[0].seconds())))
	}
	s.add(append(row, ratio(m[1].plan.D2H, max(1, m[1].plan.H2D))), data)
	return m[0], nil
}

// total adds a row with the bytes of all models together, and the means of the speed-ups.
func (s *sheet) total(models int) {
	var bytes [3]int64
	var stage, dest float64
	for _, f := range s.data {
		var seconds [3]float64
		for i, x := range f[2:5] {
			m := x.Value().(fields)
			bytes[i] += m[0].Value().(int64) + m[1].Value().(int64)
			seconds[i] = m[3].Value().(float64)
		}
		stage += faster(seconds[1], seconds[0]) / float64(models)
		dest += faster(seconds[2], seconds[0]) / float64(models)
	}
	row := table.Row{"all, mean"}
	for _, n := range bytes {
		row = append(row, fmt.Sprintf("%.2f", float64(n)/1e9))
	}
	least := max(1, bytes[0])
	s.rows = append(s.rows, append(row, ratio(bytes[1], least), ratio(bytes[2], least), "", "", "", percent(stage), percent(dest), ""))
}

// shapeText is a shape for people.
func shapeText(s saga.Shape) string {
	return fmt.Sprintf("%d vertices, %d edges, %d features, %d classes", s.Vertices, s.Edges, s.Features, s.Classes)
}

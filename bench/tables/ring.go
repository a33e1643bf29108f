package tables

import (
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/dataflow/plan/sim"
	"sagann/internal/cli"
	"sagann/saga"
)

// Ring is saga bench ring.
type Ring struct {
	benchOutput
	Graphs   []string `default:"enwiki,reddit_full" placeholder:"NAME" help:"Shapes of the paper's graphs: enwiki, reddit_full (${default})."`
	Models   []string `type:"lowercase" default:"gcn,commnet,mpgcn,ggcn,ggnn" placeholder:"NAME" help:"Models (${default})."`
	Devices  []string `default:"1,2,4,8" placeholder:"K" help:"Numbers of devices (${default})."`
	Chunks   count    `default:"24" placeholder:"P" help:"Number of intervals (${default}), rounded up to a multiple of the devices."`
	Prefetch count    `default:"2" placeholder:"N" help:"Chunks loaded ahead (${default})."`
	Ours     bool     `help:"Also with everything that came after the paper."`
}

// figure16 are the shapes of the paper's largest graphs.
var figure16 = map[string]saga.Shape{"enwiki": measure.Plan("enwiki"), "reddit_full": measure.Plan("reddit_full")}

const ringClaims = "The paper's Figure 16, measured on its server of eight P100: with the ring near-linear inside a NUMA node, about 2 times as fast as without on average, better again with NUMA-aware allocation."

const ringReason = "Form: the closed form, what the busiest link or device of every phase takes, from bytes and rates alone. Where two devices share an uplink the ring can be at most twice as fast: every device needs every chunk, which without the ring crosses the uplink once for each of the two; with it once. Cells, own rows and results cross once for each device either way, and kernels take as long either way: that is why less than 2 is left. NUMA off: all of host memory in the first socket, where the devices of the second socket reach it across the bridge."

// ringRun is the times for one number of devices: with and without the ring, NUMA-aware and not.
type ringRun struct {
	on, off       *measured
	onFar, offFar float64 // seconds if all host memory is in the first socket
	form          [2]*sim.Bound
	formFar       [2]*sim.Bound
}

// Run prints the tables.
func (c *Ring) Run(a *app) error {
	if _, err := c.machineOf(); err != nil {
		return err
	}
	m, err := sim.LoadMachine(c.Machine)
	if err != nil {
		return cli.Usage(err)
	}
	if c.Chunks < 1 {
		return cli.Usagef("--chunks is at least 1")
	}
	var counts []int
	for _, text := range c.Devices {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > len(m.Devices) {
			return cli.Usagef("--devices %s: whole numbers from 1 to %d, the devices of %s", text, len(m.Devices), c.Machine)
		}
		counts = append(counts, n)
	}
	without := cli.PaperWithout()
	if c.Ours {
		without = nil
	}
	var sheets []*sheet
	for _, g := range c.Graphs {
		shape, ok := figure16[g]
		if !ok {
			return cli.Usagef("--graphs %s: there are enwiki and reddit_full", g)
		}
		s := &sheet{key: g, title: fmt.Sprintf("%s: %s, prefetch %d, %s", g, shapeText(shape), c.Prefetch, c.Machine),
			head: table.Row{"model", "devices", "P", "ring ms", "form", "off by", "no ring ms", "form", "off by", "no ring ÷ ring", "form", "speed-up, ring", "no ring", "NUMA off: ring ms", "form", "no ring ms", "form", "held by"}}
		for _, name := range c.Models {
			if err := c.model16(s, m, name, shape, counts, without); err != nil {
				return err
			}
		}
		sheets = append(sheets, s)
	}
	sheets[len(sheets)-1].notes = []string{ringClaims, ringReason}
	return c.print(a, sheets...)
}

// model16 adds the rows of one model.
func (c *Ring) model16(s *sheet, m *sim.Machine, name string, shape saga.Shape, counts []int, without []string) error {
	for _, k := range counts {
		p := (int(c.Chunks) + k - 1) / k * k
		first, err := c.run(m, name, shape, 1, p, without)
		if err != nil {
			return err
		}
		r, err := c.run(m, name, shape, k, p, without)
		if err != nil {
			return err
		}
		on, off := r.on.seconds(), r.off.seconds()
		b := [2]float64{r.form[0].Seconds, r.form[1].Seconds}
		far := [2]float64{r.formFar[0].Seconds, r.formFar[1].Seconds}
		times := func(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }
		s.add(table.Row{name, k, p, ms(on), ms(b[0]), percent(100 * (on/b[0] - 1)), ms(off), ms(b[1]), percent(100 * (off/b[1] - 1)),
			times(off, on), times(b[1], b[0]), times(first.on.seconds(), on), times(first.off.seconds(), off),
			ms(r.onFar), ms(far[0]), ms(r.offFar), ms(far[1]), r.form[0].Critical()},
			fields{{"model", name}, {"devices", k}, {"chunks", p}, {"ring_seconds", on}, {"ring_form_seconds", b[0]}, {"no_ring_seconds", off}, {"no_ring_form_seconds", b[1]},
				{"first_touch_ring_seconds", r.onFar}, {"first_touch_ring_form_seconds", far[0]}, {"first_touch_no_ring_seconds", r.offFar}, {"first_touch_no_ring_form_seconds", far[1]},
				{"h2d_bytes", r.on.plan.H2D}, {"d2d_bytes", r.on.plan.D2D}, {"no_ring_h2d_bytes", r.off.plan.H2D}})
	}
	return nil
}

// run simulates one model on k devices with p intervals.
func (c *Ring) run(m *sim.Machine, name string, shape saga.Shape, k, p int, without []string) (*ringRun, error) {
	r := &ringRun{}
	top, err := sim.RingOf(m, k)
	if err != nil {
		return nil, err
	}
	for i, to := range []**measured{&r.on, &r.off} {
		cfg := saga.Config{Device: fmt.Sprintf("cpu:%d", k), NoRing: i == 1, Chunks: p, Prefetch: int(c.Prefetch), Without: without}
		got, err := c.simulate(name, shape, cfg)
		if err != nil {
			return nil, fmt.Errorf("%d devices: %w", k, err)
		}
		*to = got
		ring := top
		if i == 1 {
			ring = nil
		}
		r.form[i] = sim.ClosedForm(got.plan, m, ring, true)
		r.formFar[i] = sim.ClosedForm(got.plan, m, ring, false)
	}
	r.onFar = sim.SimulateFirstTouch(r.on.plan, m).Seconds()
	r.offFar = sim.SimulateFirstTouch(r.off.plan, m).Seconds()
	return r, nil
}

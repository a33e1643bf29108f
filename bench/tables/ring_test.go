package tables

import (
	"maps"
	"math"
	"slices"
	"testing"

	"sagann/dataflow/plan/sim"
	"sagann/internal/cli"
	"sagann/internal/draw"
)

// Figure 16 simulated: both graphs, five models, one to eight devices, with the ring and
// without, host memory near and in one socket, each within a tenth of the closed form
// that the links give (sim.ClosedForm, by hand in plan's TestClosedFormByHand); and the
// ring, which two GPUs on an uplink bound to twice as fast, is what the form leaves of it.
// make test takes two numbers of devices of each graph and model, all eight in turn; make soak all of each.
func TestRingIsClosedForm(t *testing.T) {
	c := &Ring{benchOutput: benchOutput{Machine: "p100x8", Hidden: 128, Layers: 2}, Prefetch: 2}
	m, err := sim.LoadMachine(c.Machine)
	if err != nil {
		t.Fatal(err)
	}
	for g, graph := range slices.Sorted(maps.Keys(figure16)) {
		shape := figure16[graph]
		for i, model := range paperModels {
			t.Run(graph+"/"+model, func(t *testing.T) {
				t.Parallel()
				first, step := 1+(g+i)%4, 4
				if draw.Soak() {
					first, step = 1, 1
				}
				for k := first; k <= 8; k += step {
					p := (24 + k - 1) / k * k
					r, err := c.run(m, model, shape, k, p, cli.PaperWithout())
					if err != nil {
						t.Fatal(err)
					}
					for _, x := range []struct {
						what      string
						got, form float64
					}{
						{"ring", r.on.seconds(), r.form[0].Seconds}, {"no ring", r.off.seconds(), r.form[1].Seconds},
						{"ring, one memory", r.onFar, r.formFar[0].Seconds}, {"no ring, one memory", r.offFar, r.formFar[1].Seconds},
					} {
						if math.Abs(x.got/x.form-1) > 0.1 {
							t.Errorf("%s, %s, %d devices, %s: %g s, by the form %g", graph, model, k, x.what, x.got, x.form)
						}
					}
					if gain := r.off.seconds() / r.on.seconds(); gain > 2.02 || k > 1 && gain < 1.4 {
						t.Errorf("%s, %s, %d devices: the ring is %g times as fast", graph, model, k, gain)
					}
				}
			})
		}
	}
}

package exec_test

import (
	"fmt"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// The copies that devices were asked for, as they count them themselves, are those of a
// closed form. The program reads x (X bytes, P chunks) at the far end into an accumulator
// (as wide), and makes of that the output y; cells have C bytes in all. Every cell has
// edges. With s slots a streamed operand, not all P chunks, and visits forth and back:
//
//	sag         down  C + X·(P² − (P−1)·s)/P   up  Y
//	stage       the accumulator goes up when it is finished and comes down for ApplyVertex:
//	            down  A more                   up  A more
//	dest-order  x comes once. Accumulators, two slots, start P times out of P² visits and
//	            stay at the P−1 turns; they go up after every cell, and come down once more:
//	            down  C + X + A·(P² − (P−1)·2 − P)/P + A   up  A·P + Y
//
// With P ≤ s slots every operand comes once, and nothing of an accumulator comes back
// before it is finished. What is resident does not move, but for the output y; x and the
// cells then come once, before the first step.
func TestDevicesCountClosedForm(t *testing.T) {
	const steps = 2 // of session.run
	for p := 1; p <= 16; p++ {
		g := &chunk.Edges{V: 3 * p}
		for u := range g.V {
			for v := range g.V {
				g.Src, g.Dst = append(g.Src, uint32(u)), append(g.Dst, uint32(v))
			}
		}
		for _, schedule := range []string{plan.Sag, plan.Stage, plan.DestOrder} {
			for _, stream := range []bool{true, false} {
				for slots := 1; slots <= 3; slots++ {
					s := sessionOn(t, g, plan.Options{P: p, Slots: slots, Stream: stream, Schedule: schedule})
					rows := int64(4 * cols * g.V) // bytes of x, of y and of the accumulator
					var cells int64
					for _, c := range s.grid.CSC.Cells {
						cells += c.Bytes
					}
					down, up, once := cells, rows, int64(0)
					pp, chunk := int64(p), rows/int64(p)
					wants := func(s int) int64 { // chunks that come to s slots in P visits
						if s >= p {
							return pp
						}
						return pp*pp - (pp-1)*int64(s)
					}
					switch {
					case !stream:
						down, once = 0, cells+rows
					case schedule == plan.Sag:
						down += chunk * wants(slots)
					case schedule == plan.Stage:
						down, up = down+chunk*wants(slots)+rows, up+rows
					default:
						down += rows + chunk*(wants(min(2, slots))-pp) + rows
						up += chunk * pp * pp
					}
					counted := counters(t, s)
					t.Run(fmt.Sprintf("P=%d/%s/stream=%v/slots=%d", p, schedule, stream, slots), func(t *testing.T) {
						const w, total = 4, 4 * cols // bytes of the parameter, set once, and of the result
						if got, want := counted.H2D, steps*down+once+w; got != want {
							t.Errorf("%d bytes down, want %d", got, want)
						}
						if got, want := counted.D2H, steps*(up+total); got != want {
							t.Errorf("%d bytes up, want %d", got, want)
						}
						if counted.Peak != s.plan.Peak {
							t.Errorf("peak %d, planned %d", counted.Peak, s.plan.Peak)
						}
					})
				}
			}
		}
	}
}

// counters runs s on a device that counts and does nothing else.
func counters(t *testing.T, s *session) device.Counters {
	t.Helper()
	dev, err := device.NewNull(0, s.plan.Peak)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.run([]device.Device{dev}, nil); err != nil {
		t.Fatal(err)
	}
	c := dev.Counters()
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

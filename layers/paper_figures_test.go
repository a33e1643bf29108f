package layers_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/dataflow/plan"
)

// dense sums the FLOPs of products of one epoch, those a row and those an edge.
func dense(pl *plan.Plan) (rows, edges float64) {
	for _, ph := range pl.Spec.Phases {
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				rows, edges = rows+c.Cost.RowDense, edges+c.Cost.EdgeDense
			}
		}
	}
	return rows, edges
}

// Section 3.2, operator motion: the two products in the edge function of G-GCN depend
// on one end each, so they move from the edges to the vertices, forward and backward.
// As written, a layer of width in multiplies 2·in² numbers for every edge forward.
func TestPaperSection32OperatorMotion(t *testing.T) {
	s := paperShape["reddit_small"]
	moved := simulated(t, "ggcn", s, paper(plan.Sag)).TrainPlan()
	rows, edges := dense(moved)
	if edges != 0 {
		t.Errorf("%v FLOPs of products an edge after operator motion", edges)
	}
	written := simulated(t, "ggcn", s, paper(plan.Sag, "hoist")).TrainPlan()
	fewer, edges := dense(written)
	forward := 2 * 2 * float64(602*602+128*128) // two products a layer, two FLOPs a multiply-add
	if edges < forward {
		t.Errorf("%v FLOPs of products an edge as written, at least %v forward", edges, forward)
	}
	if rows < fewer+forward {
		t.Errorf("%v FLOPs a vertex after operator motion, %v before; at least %v more", rows, fewer, forward)
	}
}

// Section 3.3, fused propagation: Scatter, ApplyEdge and Gather of an edge chunk are one
// kernel and no row of an edge is ever stored; unfused, the edge function's result goes
// through a buffer of one row an edge of one chunk. Fused kernels are faster.
func TestPaperSection33FusedPropagation(t *testing.T) {
	s := paperShape["reddit_small"]
	for _, name := range paperModels {
		fused := simulated(t, name, s, paper(plan.Sag))
		plain := simulated(t, name, s, paper(plan.Sag, "fuse"))
		if n := len(fused.TrainPlan().Spec.EdgeTemps); n != 0 {
			t.Errorf("%s: %d edge buffers", name, n)
		}
		for _, ph := range fused.TrainPlan().Spec.Phases {
			for _, st := range ph.Steps {
				if st.Kind == plan.Stream && len(st.Calls) != 1 {
					t.Errorf("%s: %d kernels for one pass over the edges", name, len(st.Calls))
				}
			}
		}
		if name == "commnet" || name == "ggnn" { // the message is the source's row as it is
			continue
		}
		if len(plain.TrainPlan().Spec.EdgeTemps) == 0 {
			t.Errorf("%s: no edge buffer without fusion", name)
		}
		if a, b := fused.Predicted().ComputeSeconds(), plain.Predicted().ComputeSeconds(); a >= b {
			t.Errorf("%s: kernels take %v s fused, %v s unfused", name, a, b)
		}
	}
}

// Sections 4.1 and 4.2: devices that share the vertex chunks hand them on, so that the
// bytes from the host do not grow with the devices; without that every device loads its
// own. What the ring takes off the host's links it moves between devices, byte for byte.
// Losses are those of one device.
func TestPaperSection4SharedChunks(t *testing.T) {
	d := paperGraph(t, "vertices=400,edges=3000,features=12,classes=3,seed=3,skew=0.7")
	for _, name := range paperModels {
		m := paperModel(t, name, 12, 8, 3)
		c := paper(plan.Sag)
		c.Chunks = 8
		_, want, _ := epoch(t, m, d, c)
		c.Device = "cpu:4"
		_, ring, handed := epoch(t, m, d, c)
		c.NoRing = true
		_, alone, loaded := epoch(t, m, d, c)
		for i := range want {
			for _, got := range []float64{ring[i], alone[i]} {
				if math.Abs(got-want[i]) > 1e-4*math.Abs(want[i]) {
					t.Errorf("%s: loss %d is %v on four devices, %v on one", name, i, got, want[i])
				}
			}
		}
		if handed.H2D >= loaded.H2D || handed.H2D+handed.D2D != loaded.H2D+loaded.D2D {
			t.Errorf("%s: %d bytes from the host and %d between devices in a ring, %d and %d without", name,
				handed.H2D, handed.D2D, loaded.H2D, loaded.D2D)
		}
	}
}

// Figure 14: reddit_middle, five models, one GPU, P = 4. Both directions together, stage
// moves at least 1.1 and dest-order at least 1.35 times the bytes of sag: planned at full
// size, and counted by the executor on a graph of the same density and width. sag is the
// fastest of the three on the paper's server.
func TestPaperFigure14(t *testing.T) {
	t.Parallel()
	schedules := []string{plan.Sag, plan.Stage, plan.DestOrder}
	bars := func(what string, bytes [3]int64) {
		t.Helper()
		stage, dest := float64(bytes[1])/float64(bytes[0]), float64(bytes[2])/float64(bytes[0])
		t.Logf("%s: stage moves %.3f and dest-order %.3f times the bytes of sag", what, stage, dest)
		if stage < 1.1 || dest < 1.35 {
			t.Errorf("%s: want at least 1.1 and 1.35", what)
		}
	}
	var planned, counted [3]int64
	d := paperGraph(t, "vertices=466,edges=46400,features=602,classes=41,seed=1")
	for _, name := range paperModels {
		var wall [3]int64
		for i, schedule := range schedules {
			p := simulated(t, name, paperShape["reddit_middle"], paper(schedule))
			down, up := p.Moves()
			planned[i] += down + up
			wall[i] = p.Predicted().Wall
			q, _, e := epoch(t, paperModel(t, name, 602, 128, 41), d, paper(schedule))
			if down, up = q.Moves(); e.H2D != down || e.D2H != up {
				t.Errorf("%s, %s: the executor moved %d and %d bytes, the plan says %d and %d", name, schedule, e.H2D, e.D2H, down, up)
			}
			counted[i] += e.H2D + e.D2H
		}
		if wall[0] > min(wall[1], wall[2]) {
			t.Errorf("%s: sag takes %d ns, stage %d, dest-order %d", name, wall[0], wall[1], wall[2])
		}
	}
	bars("planned for reddit_middle", planned)
	bars("counted by the executor", counted)
}

// Figure 15: reddit_small side by side 1, 4, 9 and 16 times; GCN, CommNet, GG-NN.
// Overlap (NG-stream) makes the chunk-by-chunk system (NG-base) faster, operator motion
// and fusion (NGra) do not make it slower, and the gains stay as the graph grows.
func TestPaperFigure15(t *testing.T) {
	for _, name := range []string{"gcn", "commnet", "ggnn"} {
		var gains []float64
		for _, copies := range []int{1, 4, 9, 16} {
			t.Run(fmt.Sprint(name, "/", copies), func(t *testing.T) {
				s := paperShape["reddit_small"]
				s.Vertices, s.Edges = copies*s.Vertices, int64(copies)*s.Edges
				base := simulated(t, name, s, paper(plan.Sag, "fuse", "hoist", "stream"))
				stream := simulated(t, name, s, paper(plan.Sag, "fuse", "hoist"))
				ngra := simulated(t, name, s, paper(plan.Sag))
				a, b, c := base.Predicted(), stream.Predicted(), ngra.Predicted()
				if b.Wall >= a.Wall || c.Wall > b.Wall {
					t.Errorf("NG-base takes %d ns, NG-stream %d, NGra %d", a.Wall, b.Wall, c.Wall)
				}
				busiest := max(a.Busy[plan.Compute], a.Busy[plan.H2D], a.Busy[plan.D2H])
				if b.Wall < busiest {
					t.Errorf("NG-stream takes %d ns, less than its busiest queue, %d", b.Wall, busiest)
				}
				gains = append(gains, float64(a.Wall)/float64(b.Wall)-1)
			})
		}
		if least, most := slices.Min(gains), slices.Max(gains); most > 1.3*least {
			t.Errorf("%s: NG-stream is faster by %.2f to %.2f as the graph grows", name, least, most)
		}
	}
}

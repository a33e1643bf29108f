package saga_test

import (
	"slices"
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

var redditFull = saga.Shape{Vertices: 2.2e6, Edges: 571e6, Features: 300, Classes: 50}

func planFull(t *testing.T, model string, c saga.Config) *saga.Program {
	t.Helper()
	m, err := layers.New(model, layers.Options{Features: 300, Hidden: 128, Classes: 50, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	c.Machine, c.Schedule = "h200", plan.Auto
	c.Without = append(c.Without, "invariant")
	p, err := saga.Plan(m, redditFull, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sweeps counts the phases that read an input at the own end.
func sweeps(p *plan.Plan, name string) int {
	n := 0
	for _, ph := range p.Spec.Phases {
		reads := false
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				reads = reads || slices.ContainsFunc(c.Operands, func(o plan.Operand) bool {
					return o.Kind == plan.OwnValue && p.Spec.Values[o.ID].Name == name
				})
			}
		}
		if reads {
			n++
		}
	}
	return n
}

// Both weights of CommNet's first layer get their gradients in one sweep over the features.
func TestSumsArePostponed(t *testing.T) {
	c := saga.Config{Save: saga.SaveAll, Chunks: 4}
	after := sweeps(planFull(t, "commnet", c).TrainPlan(), "features")
	c.Without = []string{"postpone"}
	before := sweeps(planFull(t, "commnet", c).TrainPlan(), "features")
	if before != 3 || after != 2 {
		t.Errorf("%d sweeps over the features, %d with postponing; want 3 and 2", before, after)
	}
}

// A mixture of save policies is at least as fast as each of them, here faster.
func TestSavesAreMixed(t *testing.T) {
	c := saga.Config{Mem: 3500 << 20}
	if !draw.Soak() {
		c.Chunks = 12 // less to choose
	}
	mixed := planFull(t, "commnet", c)
	if len(mixed.Stored()) == 0 {
		t.Error("nothing is stored beside a policy")
	}
	for _, c.Save = range []string{saga.SaveAll, "some", saga.SaveNone} {
		if p := planFull(t, "commnet", c); p.Predicted().Wall < mixed.Predicted().Wall {
			t.Errorf("%s takes %d ns, a mixture %d", c.Save, p.Predicted().Wall, mixed.Predicted().Wall)
		}
	}
}

// A value of G-GCN that is read first in the phase after the one that can make it is made
// there, which shortens the epoch, and what a run that goes on takes over gives that plan.
func TestStoredValuesAreMadeLate(t *testing.T) {
	c := saga.Config{Mem: 4 << 30, Chunks: 7, Outcome: saga.Outcome{Slices: 1}}
	p := planFull(t, "ggcn", c)
	if !slices.ContainsFunc(p.Stored(), func(name string) bool { return strings.HasPrefix(name, dataflow.Late) }) {
		t.Errorf("beside the policy are stored %q", p.Stored())
	}
	c.Save, c.Outcome.Store = p.Saved(), p.Stored()
	again := planFull(t, "ggcn", c)
	if !slices.Equal(again.Stored(), p.Stored()) || len(again.TrainPlan().Spec.Values) != len(p.TrainPlan().Spec.Values) {
		t.Errorf("a plan of what was chosen stores %q, the choice was %q", again.Stored(), p.Stored())
	}
	c.Outcome.Store = nil
	if other := planFull(t, "ggcn", c).Predicted(); other.Wall <= p.Predicted().Wall {
		t.Errorf("made early: %v; late: %v", other, p.Predicted())
	}
}

// Within a bound on host memory a plan that needs less of it is preferred to one whose
// values lie in files, and what lies in files is part of the predicted time.
func TestPlansAreChosenWithinHostMem(t *testing.T) {
	c := saga.Config{Mem: 4 << 30, Chunks: 9, Outcome: saga.Outcome{Slices: 1}}
	free := planFull(t, "mpgcn", c)
	c.HostMem = free.Summary().Host - 1<<30
	p := planFull(t, "mpgcn", c)
	s := p.Summary()
	if s.Host > c.HostMem || s.Disk > 0 || p.Predicted().Wall < free.Predicted().Wall {
		t.Errorf("%d bytes of host memory: %d used, %d in files, %v; without a bound %v", c.HostMem, s.Host, s.Disk, p.Predicted(), free.Predicted())
	}
	c.HostMem = 11 << 30
	if p = planFull(t, "mpgcn", c); p.Summary().Disk == 0 || p.Predicted().Wall < 2*free.Predicted().Wall {
		t.Errorf("%d in files, %v; without a bound %v", p.Summary().Disk, p.Predicted(), free.Predicted())
	}
}

// G-GCN's products for far ends are stored where all is on the device, as something else reads them, too.
func TestFarProductsAreStored(t *testing.T) {
	for _, machine := range []string{"", "h200"} {
		m, err := layers.New("ggcn", layers.Options{Features: 602, Hidden: 128, Classes: 41, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		p, err := saga.Plan(m, saga.Shape{Vertices: 233_000, Edges: 23.2e6, Features: 602, Classes: 41}, saga.Config{Machine: machine, Chunks: 1, Without: []string{"invariant"}})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"far:matmul.17", "far:matmul.3"}; !slices.Equal(p.Stored(), want) {
			t.Errorf("machine %q: %v is stored, want %v", machine, p.Stored(), want)
		}
	}
}

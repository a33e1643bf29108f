package saga_test

import (
	"slices"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/internal/draw"
	"sagann/saga"
)

// TestGroups: several devices with little memory visit several intervals at a time. With what
// was chosen, another budget and no ring give the same bits; without groups there are none.
func TestGroups(t *testing.T) {
	d := mustSynthetic(t, "vertices=6000,edges=120000,features=32,classes=5")
	machine, err := sim.LoadMachine("h200x4")
	if err != nil {
		t.Fatal(err)
	}
	aside := int64(machine.Kind(0).Memory.Value) - machine.Budget(0)
	c := saga.Config{Seed: 1, Device: "cpu:2", Machine: "h200x4", Schedule: plan.Auto, Mem: aside + 500<<10, Epochs: 2, Without: []string{"invariant"}}
	if !draw.Soak() {
		c.Save = saga.SaveNone // less to choose
	}
	p := program(t, "ggcn", d, c)
	groups := p.Groups()
	if groups == nil {
		t.Fatal("one interval at a time")
	}
	want := train(t, p, saga.TrainOptions{})

	again := c
	again.Chunks, again.Schedule, again.Save, again.Outcome = p.Summary().Chunks, p.Summary().Schedule, p.Saved(), p.Outcome()
	for _, again.NoRing = range []bool{false, true} {
		again.Mem += 300 << 10
		q := program(t, "ggcn", d, again)
		if !slices.Equal(q.Groups(), groups) || q.Digest() != p.Digest() {
			t.Fatalf("groups %v, then %v; another digest: %v", groups, q.Groups(), q.Digest() != p.Digest())
		}
		if r := train(t, q, saga.TrainOptions{}); r.Loss != want.Loss || r.Final != want.Final {
			t.Errorf("loss %v and scores %+v, before %v and %+v", r.Loss, r.Final, want.Loss, want.Final)
		}
		sameParams(t, p, q)
	}
	c.Without = append(c.Without, "group")
	if q := program(t, "ggcn", d, c); q.Groups() != nil {
		t.Errorf("groups %v without", q.Groups())
	}
}

// One device whose sources come often visits groups, too, and is faster so.
func TestGroupsOfOneDevice(t *testing.T) {
	c := saga.Config{Mem: 1200 << 20, Outcome: saga.Outcome{Slices: 1}}
	p := planFull(t, "gcn", c)
	c.Without = []string{"group"}
	if q := planFull(t, "gcn", c); p.Groups() == nil || q.Groups() != nil || p.Predicted().Wall >= q.Predicted().Wall {
		t.Errorf("groups %v, %v; without %v, %v", p.Groups(), p.Predicted(), q.Groups(), q.Predicted())
	}
}

package layers_test

import (
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// The totals of a traced epoch hold all of the plan: its tasks, its bytes and, in every
// phase that gathers, all edges; each is predicted where there is a machine model.
func TestTraceTotals(t *testing.T) {
	d := paperGraph(t, "vertices=3000,edges=30000,features=32,classes=4")
	m, err := layers.New("ggcn", layers.Options{Features: 32, Hidden: 16, Classes: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, saga.Config{Seed: 1, Chunks: 3, Stream: true, Machine: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.TraceTotals(); err == nil {
		t.Error("totals without a trace")
	}
	if err := p.StartTrace(1); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(); err != nil {
		t.Fatal(err)
	}
	totals, err := p.TraceTotals()
	if err != nil {
		t.Fatal(err)
	}
	tasks, bytes := 0, map[string]int64{}
	for _, x := range totals {
		tasks += x.Tasks
		if x.Name != "results" { // the loss is no traffic of the plan
			bytes[x.Queue] += x.Bytes
		}
		if x.Stage == "SAG" && x.Edges%int64(d.Edges.E()) != 0 {
			t.Errorf("%s of phase %d: %d edges, the graph has %d", x.Name, x.Phase, x.Edges, d.Edges.E())
		}
		if x.Queue != "compute" && x.Bytes == 0 || x.Stage == "SAG" && (x.Rows == 0 || x.Gathered == 0 || x.Measured <= 0 || x.Predicted <= 0) {
			t.Errorf("%+v", x)
		}
	}
	pl := p.TrainPlan()
	if tasks != len(pl.Tasks) || bytes["h2d"] != pl.H2D || bytes["d2h"] != pl.D2H || pl.H2D == 0 {
		t.Errorf("%d tasks, %v; the plan has %d, h2d %d, d2h %d", tasks, bytes, len(pl.Tasks), pl.H2D, pl.D2H)
	}
}

package saga_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sagann/net"
	"sagann/net/local"
	"sagann/saga"
)

// Plans and steps of sampled training can be drawn and traced; the edges of a block are not known to them.
func TestSampledTrace(t *testing.T) {
	p := sampledProgram(t, "sage", sampledGraph(t), sampledConfig(), sampling())
	defer p.Close()
	if err := p.WriteHTML(io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.StartTrace(2); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := p.TraceTotals()
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for _, x := range list {
		if tasks += x.Tasks; x.Edges != 0 || x.Gathered != 0 {
			t.Errorf("%s %s: %d edges, %d bytes gathered; a plan does not know the batch", x.Queue, x.Name, x.Edges, x.Gathered)
		}
	}
	if n := len(p.TrainPlan().Tasks); tasks != n {
		t.Errorf("totals of %d tasks; the plan has %d", tasks, n)
	}
	dir := t.TempDir()
	if err := p.WriteTrace(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "trace.json"))
	if err != nil || !strings.Contains(string(text), "batch 3") || strings.Contains(string(text), "epoch") {
		t.Errorf("the trace does not name batch 3, or names an epoch (%v)", err)
	}
}

// A rank runs a part of the plan only: its tasks are not those that a trace would name.
func TestRanksAreNotTraced(t *testing.T) {
	d := sampledGraph(t)
	_, links := local.New(2)
	errs := make([]error, len(links))
	var wg sync.WaitGroup
	for r, l := range links {
		wg.Go(func() {
			c := saga.Config{Device: "cpu:2", Net: net.Over(l), Chunks: 4}
			p, err := saga.Compile(sampledModel(t, "sage", d), d, c)
			if err == nil {
				if p.StartTrace(1) == nil {
					err = errors.New("tracing one of two ranks is no error")
				}
				err = errors.Join(err, p.Close())
			}
			errs[r] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

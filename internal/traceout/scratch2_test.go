package traceout_test

import (
	"fmt"
	"testing"
	"time"
	"slices"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

func TestCost(t *testing.T) {
	for _, spec := range []string{"vertices=400,edges=1600,features=16,classes=5"} {
	s, _ := dataset.ParseSpec(spec)
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
			m, err := layers.New("ggcn", layers.Options{Features: d.FeatureCols, Hidden: 16, Classes: d.Classes, Layers: 2})
			if err != nil {
				t.Fatal(err)
			}
			c := saga.Config{Seed: 1, Chunks: 4, Stream: true}
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(err)
			}
			n := 60
			if s.Vertices < 1000 { n = 3000 }
			var times [2][]time.Duration
			for k := range 2*n {
			on := k%2
			if err := p.StartTrace(on); err != nil || false {
				t.Fatal(err)
			}
			a:=time.Now()
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
				times[on] = append(times[on], time.Since(a))
			}
			slices.Sort(times[0]); slices.Sort(times[1])
			q := func(x []time.Duration, f float64) time.Duration { return x[int(f*float64(len(x)))] }
			fmt.Println(spec, "off", q(times[0],.25), q(times[0],.5), "on", q(times[1],.25), q(times[1],.5))
			p.Close()
			}
}

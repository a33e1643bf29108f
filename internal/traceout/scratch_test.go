package traceout_test

import (
	"fmt"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

func TestScratch(t *testing.T) {
	s, err := dataset.ParseSpec("vertices=3000,edges=60000,features=32,classes=5")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{"", "factor,fuse"} {
		for _, name := range layers.Names() {
			m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Layers: 3, Hidden: 16})
			if err != nil {
				t.Fatal(err)
			}
			c := saga.Config{Seed: 1, Chunks: 3, Stream: true}
			if without != "" {
				c.Without = []string{"factor", "fuse", "commute"}
			}
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.StartTrace(2); err != nil {
				t.Fatal(err)
			}
			for range 4 {
				if _, err := p.Step(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.WriteTrace("/tmp/tr/" + name + without); err != nil {
				t.Fatal(err)
			}
			fmt.Println(name, p.TraceOverlap())
			p.Close()
		}
	}
}

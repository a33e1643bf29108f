package layers_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/device"
	"sagann/layers"
	"sagann/saga"
)

// severalSpecs are the devices of one, two and four, as many as SAGANN_DEVICE lists
// (cuda:0,1); by default of the CPU.
func severalSpecs(t *testing.T) []string {
	spec := os.Getenv("SAGANN_DEVICE")
	if spec == "" {
		return []string{"cpu:1", "cpu:2", "cpu:4"}
	}
	kind, index, err := device.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	var specs []string
	for k := 1; k <= len(index) && k <= 4; k *= 2 {
		list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(index[:k])), ","), "[]")
		if kind == "cpu" {
			list = fmt.Sprint(k)
		}
		specs = append(specs, kind+":"+list)
	}
	return specs
}

// TestSeveral: losses on several devices are those of one within 1e-4, with chunks
// handed around a ring and with each device loading for itself; and the same bits in
// every run.
func TestSeveral(t *testing.T) {
	spec, err := dataset.ParseSpec("vertices=2000,edges=30000,features=20,classes=5,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	specs := severalSpecs(t)
	if len(specs) == 1 {
		t.Logf("%s is one device: only its runs are compared with each other", specs[0])
	}
	if strings.HasPrefix(specs[0], "cuda") { // contexts stay between the programs
		keep, err := device.Open(specs[len(specs)-1], 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			for _, d := range keep {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for _, name := range []string{"gcn", "ggcn", "ggnn", "mpgcn"} {
		m, err := layers.New(name, layers.Options{Features: 20, Hidden: 12, Classes: 5, Layers: 2, Steps: 2, Dropout: 0.2})
		if err != nil {
			t.Fatal(err)
		}
		var one []float64
		for _, spec := range specs {
			for _, noRing := range []bool{false, true} {
				if one != nil && spec == specs[0] {
					continue // a ring of one
				}
				c := saga.Config{Device: spec, NoRing: noRing, Chunks: 4, Stream: true, Seed: 5}
				got := epochs(t, m, d, c)
				if one == nil {
					one = got
				}
				again := epochs(t, m, d, c)
				for i := range got {
					if got[i] != again[i] {
						t.Errorf("%s on %s, ring %v: epoch %d has loss %v, and in another run %v", name, spec, !noRing, i+1, got[i], again[i])
					}
					if !(math.Abs(got[i]-one[i]) <= 1e-4*math.Abs(one[i])) {
						t.Errorf("%s on %s, ring %v: epoch %d has loss %v, on one device %v", name, spec, !noRing, i+1, got[i], one[i])
					}
				}
			}
		}
	}
}

// epochs trains for three and gives their losses.
func epochs(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) []float64 {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	var list []float64
	for range 3 {
		var l float64
		if l, err = p.Step(); err != nil {
			break
		}
		list = append(list, l)
	}
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatalf("%s: %v", c.Device, err)
	}
	return list
}

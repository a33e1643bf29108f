package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/internal/cli"
)

// knownCards are GPUs of which only the cards are asked.
type knownCards struct {
	device.System
	list []device.Card
}

func (k knownCards) Card(i int) (device.Card, error) { return k.list[i], nil }

// TestFindMachine: a run is planned on the measured model of its card, or the nearest ready one, and it says which and why.
func TestFindMachine(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	cuda := backend.Of("cuda")
	was := cuda.System
	t.Cleanup(func() { cuda.System = was })
	h100 := device.Card{Name: "NVIDIA H100 80GB HBM3", Driver: "580.159.04", Watts: 700, Total: 80 << 30, Free: 80 << 30}
	busy, odd := h100, h100
	busy.Users = []device.User{{PID: 7, Name: "python3"}}
	odd.Name = "GeForce"
	ask := func(spec string, may bool, list ...device.Card) found {
		cuda.System = func() (device.System, error) { return knownCards{list: list}, nil }
		f, err := findMachine(spec, may)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	near := cli.NearestMachine(cuda, h100.Name, 1)
	for _, x := range []struct {
		spec, want, why string
		may             bool
		list            []device.Card
	}{
		{"cpu", "", "", true, nil},
		{"cuda", near, "saga topo --device cuda --measure", false, []device.Card{h100}},
		{"cuda", near, "process 7 (python3)", true, []device.Card{busy}},
		{"cuda", "h200", "process 7", true, []device.Card{{Name: odd.Name, Total: 1, Users: busy.Users}}},
		{"cuda:0,1", "h200x4", "not measured", false, []device.Card{h100, h100}},
		{"cuda", near, "could not be measured", true, []device.Card{h100}}, // this binary has no CUDA, or this host no GPU
	} {
		if f := ask(x.spec, x.may, x.list...); f.machine != x.want || !strings.Contains(f.why, x.why) {
			t.Errorf("%s, %v: %+v, want %s and %q", x.spec, x.may, f, x.want, x.why)
		}
	}
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	const kept = "nvidia-h100-80gb-hbm3_driver-580.159.04_700w_%sx1.json"
	if err := keepMachine(filepath.Join(cli.Machines(), fmt.Sprintf(kept, "")), m); err != nil {
		t.Fatal(err)
	}
	if f := ask("cuda", false, busy); !strings.Contains(f.why, "not measured") {
		t.Errorf("a card that an earlier version measured, with fewer rates: %+v", f)
	}
	file := filepath.Join(cli.Machines(), fmt.Sprintf(kept, fmt.Sprintf("rates-%d_", cli.MeasuredRates)))
	if err := keepMachine(file, m); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cli.Machines()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
	if f := ask("cuda", true, busy); f.machine != file || f.why != "" {
		t.Errorf("a measured card: %+v", f)
	}
	other := h100
	other.Watts = 350
	if f := ask("cuda", false, other); f.machine == file {
		t.Error("another power limit has the same model")
	}
	if text := otherCard("cuda", "h200"); !strings.Contains(text, "h200 describes another card") {
		t.Errorf("--machine h200 on a smaller card: %q", text)
	}
	if text := otherCard("cuda", file); text == "" { // a copy of the h200's
		t.Error("a file of a larger card is not told of")
	}
}

// TestFitGathers: the three numbers that gathers were made of come back; without sense in them, two thirds of the cache is taken.
func TestFitGathers(t *testing.T) {
	const hit, miss, held, cache = 8e12, 2.9e12, 32e6, 50e6
	size := [3]float64{6.25e6, 50e6, 125e6}
	var slow [3]float64
	for i, s := range size {
		h := math.Min(1, held/s)
		slow[i] = h/hit + (1-h)/miss
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6*b }
	if a, b, c := fitGathers(slow, size, cache); !near(a, hit) || !near(b, miss) || !near(c, held) {
		t.Errorf("got %g, %g, %g", a, b, c)
	}
	if a, b, c := fitGathers([3]float64{1e-13, 2e-13, 2e-13}, size, cache); !near(a, 1e13) || b > a || !near(c, cache/3*2) {
		t.Errorf("noise: %g, %g, %g", a, b, c)
	}
}

// TestPlannedMachine: without a driver's GPU the usual model is planned on.
func TestPlannedMachine(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if device.Seen() != nil {
		t.Skip("this host lists GPUs")
	}
	for spec, want := range map[string]string{"cpu": "", "cuda": "h200", "cuda:0,1": "h200x4"} {
		if got := cli.PlannedMachine(spec); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

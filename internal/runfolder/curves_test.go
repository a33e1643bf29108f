package runfolder

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// record writes a metrics.csv of n epochs that look like a training.
func record(t *testing.T, dir string, n int) {
	t.Helper()
	m, _, err := (&Folder{dir}).OpenMetrics(0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i := 1; i <= n; i++ {
		x := float64(i)
		e := Epoch{
			Epoch: i, Loss: 2.1*math.Exp(-x/30) + 0.1 + 0.03*math.Sin(x*7),
			Train: 0.96 - 0.8*math.Exp(-x/20), Val: math.NaN(), Test: math.NaN(), Seconds: 0.1,
		}
		if i%5 == 0 || i == 1 { // measured every fifth epoch
			e.Val, e.Test = 0.9-0.75*math.Exp(-x/22), 0.88-0.75*math.Exp(-x/24)
		}
		if err := m.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPlotCurves(t *testing.T) {
	for _, n := range []int{1, 2, 200} {
		dir := t.TempDir()
		record(t, dir, n)
		if err := PlotCurves(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"loss", "accuracy"} {
			text, err := os.ReadFile(filepath.Join(dir, name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if s := img.Bounds().Size(); s.X < 600 || s.Y < 350 {
				t.Errorf("%s.png is %v", name, s)
			}
			text, err = os.ReadFile(filepath.Join(dir, name+".svg"))
			if err != nil || !bytes.Contains(text, []byte("</svg>")) || !bytes.Contains(text, []byte(">epoch<")) {
				t.Errorf("%s.svg: %v, %.300q", name, err, text)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestPlotCurvesWithoutValues(t *testing.T) {
	dir := t.TempDir()
	if err := PlotCurves(dir); err == nil {
		t.Error("curves without metrics.csv")
	}
	m, _, err := (&Folder{dir}).OpenMetrics(0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	nan := math.NaN()
	if err := m.Append(Epoch{1, math.Inf(1), nan, 0.5, nan, 0, 0, 0, 0, math.NaN()}); err != nil {
		t.Fatal(err)
	}
	if err := PlotCurvesOf(dir, "micro-F1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "loss.png")); err == nil {
		t.Error("a picture of no finite loss")
	}
	if _, err := os.Stat(filepath.Join(dir, "micro-f1.png")); err != nil {
		t.Error(err)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		least, lo, hi float64
		want          string
	}{
		{0, 0, 1, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"},
		{0, 0, 2.16, "0.0 0.5 1.0 1.5 2.0"},
		{1, 1, 3, "1 2 3"},
		{1, 1, 200, "20 40 60 80 100 120 140 160 180 200"},
		{0, -0.5, 0.5, "-0.5 -0.4 -0.3 -0.2 -0.1 0.0 0.1 0.2 0.3 0.4 0.5"},
		{0, 0, 3e7, "0 5e+06 1e+07 1.5e+07 2e+07 2.5e+07 3e+07"},
	} {
		var got []string
		for _, tick := range (ticks{c.least}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, s, c.want)
		}
	}
	for _, span := range [][2]float64{{1e17, 1e17 + 16}, {0, 5e-324}, {-math.MaxFloat64, math.MaxFloat64}, {0, math.NaN()}, {2, 1}} {
		if n := len((ticks{}).Ticks(span[0], span[1])); n > 12 {
			t.Errorf("%v: %d ticks", span, n)
		}
	}
}

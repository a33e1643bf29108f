package runfolder

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sagann/internal/draw"
)

// TestMetricsDamage: lines that were changed, cut off or taken out are noticed when a run goes on and when its report is made.
func TestMetricsDamage(t *testing.T) {
	f := &Folder{t.TempDir()}
	m, _, err := f.OpenMetrics(0)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 9 {
		if err := m.Append(epoch(n + 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := ReadMetricsTo(f.Dir, 9)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		list, err := ReadMetricsTo(f.Dir, 9)
		if err == nil && fmt.Sprint(list) != fmt.Sprint(want) {
			t.Errorf("%s: other lines are read", what)
		}
		m, missing, wrong := f.OpenMetrics(9)
		switch {
		case wrong == nil:
			m.Close()
		case !strings.Contains(wrong.Error(), MetricsFile):
			t.Errorf("%s: %v", what, wrong)
		}
		if (wrong == nil) != (err == nil) || missing {
			t.Errorf("%s: %v, and %v", what, err, wrong)
		}
	}
	draw.Damage(t, f.Path(MetricsFile), 2000, check)
	text, err := os.ReadFile(f.Path(MetricsFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for k := range lines[:len(lines)-1] {
		without := strings.Join(slices.Delete(slices.Clone(lines), k, k+1), "")
		if err := os.WriteFile(f.Path(MetricsFile), []byte(without), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMetricsTo(f.Dir, 9); err == nil {
			t.Errorf("without line %d the file is taken", k+1)
		}
	}
	os.Remove(f.Path(MetricsFile))
	if m, missing, err := f.OpenMetrics(9); err != nil || !missing || m.Append(epoch(10)) != nil || m.Close() != nil {
		t.Errorf("without a file: %t, %v", missing, err)
	}
	if list, err := ReadMetricsTo(f.Dir, 10); err != nil || len(list) != 1 {
		t.Errorf("a file that was begun later: %v, %v", list, err)
	}
}

// TestConfigDamage: settings that were changed are an error, or said to be edited.
func TestConfigDamage(t *testing.T) {
	type config struct {
		Model string
		Rate  float64
		Loops bool
		Sizes []int
	}
	f, want := &Folder{t.TempDir()}, config{"ggcn", 0.01, true, []int{16, 32}}
	if err := f.WriteConfig(want); err != nil {
		t.Fatal(err)
	}
	draw.Damage(t, f.Path(ConfigFile), 2000, func(what string) {
		var got config
		edited, err := f.ReadConfig(&got)
		switch {
		case err != nil && !strings.Contains(err.Error(), ConfigFile):
			t.Errorf("%s: %v", what, err)
		case err == nil && !edited && fmt.Sprint(got) != fmt.Sprint(want):
			t.Errorf("%s: %v is taken, and not said to be edited", what, got)
		}
	})
	text, err := os.ReadFile(f.Path(ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	old, _ := Unseal(text) // as an earlier version wrote it
	if err := os.WriteFile(f.Path(ConfigFile), old, 0o666); err != nil {
		t.Fatal(err)
	}
	var got config
	if edited, err := f.ReadConfig(&got); err != nil || edited || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("without a checksum: %v, %t, %v", got, edited, err)
	}
}

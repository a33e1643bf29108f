package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestRecordedZeros: runs of versions that took a recorded 0 for the default go on with the default, and runs
// that record the 0 keep it.
func TestRecordedZeros(t *testing.T) {
	const zeros = `{"alpha": 0, "lr-factor": 0, "lr-patience": 0, "huber-delta": 0, "lr-decay": 0, "eval-every": 0`
	for _, c := range []struct {
		text              string
		alpha, factor     float32
		patience          count
		delta, decay      float32
		evaluated         count
		given, fromConfig string // --alpha of --config: of a run, of a file that somebody wrote
	}{
		{zeros + `}`, 0.1, 0.1, 10, 1, 1, 1, "0.1", "0"},
		{zeros + `, "decay": "first"}`, 0, 0, 0, 0, 0, 0, "0", "0"},
	} {
		var s savedSettings
		if err := json.Unmarshal([]byte(c.text), &s); err != nil {
			t.Fatal(err)
		}
		if s.Model.Alpha != c.alpha || s.Rate.LRFactor != c.factor || s.Rate.LRPatience != c.patience || s.Training.HuberDelta != c.delta ||
			s.Training.LRDecay != c.decay || s.Training.EvalEvery != c.evaluated {
			t.Errorf("%s is read as %+v, %+v, %+v", c.text, s.Model, s.Rate, s.Training)
		}
		path := filepath.Join(t.TempDir(), "config.json")
		for text, want := range map[string]string{`{"settings": ` + c.text + `}`: c.given, c.text: c.fromConfig} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := readSettings(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := m["alpha"].(json.Number).String(); got != want {
				t.Errorf("--config of %s gives --alpha %s, want %s", text, got, want)
			}
		}
	}
}

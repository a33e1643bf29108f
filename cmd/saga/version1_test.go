package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// version1 is the folder of a run that commit da2cd53 has written, before checkpoints had a
// checksum of their metadata, with what it predicted and embedded from it:
//
//	saga train --data karate --model gcn --hidden 4 --epochs 12 --patience 5 --lr 0.2 --out run
//	saga predict --checkpoint run --write logits --out logits.csv
//	saga embed --checkpoint run --out rows.csv
const version1 = "testdata/version1"

// sagaCommand runs the command line and returns its status and what it wrote to standard error.
func sagaCommand(t *testing.T, args ...string) (status int, text string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	status = runHere(args, f, f)
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return status, string(b)
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestVersion1Predicts: predict and embed give what the program that wrote the run gave,
// up to the order of sums.
func TestVersion1Predicts(t *testing.T) {
	for _, x := range []struct{ file, args string }{{"logits.csv", "predict --write logits"}, {"rows.csv", "embed"}} {
		for _, from := range []string{version1, filepath.Join(version1, checkpointFile)} {
			out := filepath.Join(t.TempDir(), x.file)
			if status, text := sagaCommand(t, append(strings.Fields(x.args), "--checkpoint", from, "--out", out)...); status != exitOK {
				t.Errorf("%s from %s: %s", x.args, from, text)
				continue
			}
			got, want := readTable(t, out), readTable(t, filepath.Join(version1, x.file))
			if len(got) != len(want) {
				t.Errorf("%s: %d rows, want %d", x.args, len(got), len(want))
				continue
			}
			for i := 1; i < len(want); i++ {
				for k := range want[i] {
					a, _ := strconv.ParseFloat(got[i][k], 64)
					b, err := strconv.ParseFloat(want[i][k], 64)
					if err != nil || math.Abs(a-b) > 1e-5*(1+math.Abs(b)) {
						t.Errorf("%s: row %d, column %d is %s, want %s", x.args, i, k, got[i][k], want[i][k])
					}
				}
			}
		}
	}
}

// TestVersion1Evaluates: the scores are those of the run's log; training does not go on.
func TestVersion1Evaluates(t *testing.T) {
	path := filepath.Join(version1, checkpointFile)
	ck, err := saga.ReadCheckpoint(path)
	if err != nil || ck.Epoch != 12 || ck.Model != "gcn" {
		t.Fatalf("%+v, %v", ck, err)
	}
	var prep prepared
	if err := json.Unmarshal([]byte(ck.Options), &prep); err != nil {
		t.Fatal(err)
	}
	m, err := layers.New(ck.Model, prep.Layers)
	if err != nil {
		t.Fatal(err)
	}
	m.SelfLoops = prep.SelfLoops
	s, err := saga.Evaluate(m, dataset.Karate(), saga.Config{}, path)
	if err != nil || math.Abs(s.Val.Loss-0.0340061523) > 1e-6 || math.Abs(s.Test.Loss-0.1948026094) > 1e-6 || s.Test.Accuracy != 21./22 {
		t.Errorf("scores %+v, %v", s, err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(version1)); err != nil {
		t.Fatal(err)
	}
	status, text := sagaCommand(t, "train", "--resume", dir, "--epochs", "20")
	if status != exitFailure || !strings.Contains(text, "trained by revision 1 of the arithmetic and this program computes by revision 2") {
		t.Errorf("resumed: status %d, %s", status, text)
	}
}

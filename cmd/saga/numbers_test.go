package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"sagann/dataset"
	"sagann/dataset/npy"
)

// Numbers of vertices, edges and graphs, in a folder of .npy files, are trained on by themselves, scored as
// training scored them, and predicted, a row for each.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, kind := range []dataset.LabelKind{dataset.VertexLabels, dataset.EdgeLabels, dataset.GraphLabels} {
		dir := t.TempDir()
		folder, run := filepath.Join(dir, "data"), filepath.Join(dir, "run")
		d := labelled(t, string(kind))
		rows := len(d.Labels)
		switch kind {
		case dataset.VertexLabels:
			d.Targets.Cols, d.Labels = 1, nil
			for v := range d.Edges.V {
				d.Targets.Vertex = append(d.Targets.Vertex, d.Features[8*v])
			}
		case dataset.EdgeLabels:
			d.Targets.Edge.Cols, d.EdgeLabels, rows = 2, nil, d.Edges.E()
			for e, u := range d.Edges.Src {
				d.Targets.Edge.Rows = append(d.Targets.Edge.Rows, d.Features[8*u], d.Features[8*d.Edges.Dst[e]])
			}
			d.Targets.Edge.Rows[2], d.Targets.Edge.Rows[3] = float32(math.NaN()), float32(math.NaN())
		case dataset.GraphLabels:
			d.Targets.Graph.Cols, rows = 1, len(d.GraphLabels)
			for g := range rows {
				d.Targets.Graph.Rows = append(d.Targets.Graph.Rows, d.Features[24*g]+d.Features[24*g+8]+d.Features[24*g+16])
			}
			d.GraphLabels = nil
		}
		d.Classes, d.Train, d.Val, d.Test = 0, nil, nil, nil
		if err := dataset.WriteNpyFolder(folder, d); err != nil {
			t.Fatal(err)
		}
		var trained struct {
			R2  float64 `json:"test_r2"`
			MSE float64 `json:"test_mse"`
		}
		if err := json.Unmarshal(output(t, "train", "--data", folder, "--model", "sage", "--epochs", "30", "--lr", "0.02", "--loss", "huber", "--out", run, "--json"), &trained); err != nil {
			t.Fatal(err)
		}
		var s struct {
			Task, On string
			Rows     int
			R2, MSE  float64
		}
		if err := json.Unmarshal(output(t, "evaluate", run, "--json"), &s); err != nil {
			t.Fatal(err)
		}
		if s.Task != string(kind) || s.On != "test" || math.Abs(s.R2-trained.R2) > 1e-6 || math.Abs(s.MSE-trained.MSE) > 1e-6 || s.R2 < 0.2 {
			t.Errorf("%s: training says %+v, evaluate %+v", kind, trained, s)
		}
		out := filepath.Join(dir, "values.npy")
		output(t, "predict", run, "--out", out)
		a, err := npy.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if a.Shape[0] != rows {
			t.Errorf("%s: predictions %v for %d", kind, a.Shape, rows)
		}
	}
}

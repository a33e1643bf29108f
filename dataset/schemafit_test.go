package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// columnsOf is data of two vertices and one edge with these columns, row-major.
func columnsOf(columns []Column, x ...float32) *Data {
	d := &Data{Name: "new", Edges: &chunk.Edges{V: 2, Src: []uint32{0}, Dst: []uint32{1}}, Features: x, FeatureCols: len(columns)}
	d.Schema.Features.Columns = columns
	return d
}

func number(x float64) *float64 { return &x }

// TestFitFeatures maps columns by name and into the form of the run's. The wanted numbers are worked out by hand.
func TestFitFeatures(t *testing.T) {
	plain := func(names ...string) (c []Column) {
		for _, n := range names {
			c = append(c, Column{Name: n})
		}
		return c
	}
	for what, x := range map[string]struct {
		run  []Column
		data *Data
		want []float32 // nil: an error
		says string    // in the error or in a note
	}{
		"the same":      {plain("a", "b"), columnsOf(plain("a", "b"), 1, 2, 3, 4), []float32{1, 2, 3, 4}, ""},
		"another order": {plain("b", "a"), columnsOf(plain("a", "b"), 1, 2, 3, 4), []float32{2, 1, 4, 3}, ""},
		"one more":      {plain("b"), columnsOf(plain("a", "b"), 1, 2, 3, 4), []float32{2, 4}, "does not know the columns a"},
		"one less":      {plain("a", "b", "c"), columnsOf(plain("a", "b"), 1, 2, 3, 4), nil, "new has the columns of features a, b, and run has the columns of features a, b, c: the data lacks c"},
		"no names here": {plain("a", "b"), columnsOf(nil), nil, ""},
		"a standardised column": {[]Column{{Name: "a", Mean: number(10), Scale: number(4)}, {Name: "b"}}, columnsOf(plain("a", "b"), 14, 2, 8, 4),
			[]float32{1, 2, -0.5, 4}, ""},
		"standardised by other numbers": {[]Column{{Name: "a", Mean: number(10), Scale: number(4)}}, // 0.5·4 + 8 = 10, -1·4 + 8 = 4
			columnsOf([]Column{{Name: "a", Mean: number(8), Scale: number(4)}}, 0.5, -1), []float32{0, -1.5}, ""},
		"categories that no row has, and one that the run does not know": {
			[]Column{{Name: "city=Bonn", Of: "city", Category: "Bonn"}, {Name: "city=Ulm", Of: "city", Category: "Ulm"}},
			columnsOf([]Column{{Name: "city=Rom", Of: "city", Category: "Rom"}, {Name: "city=Ulm", Of: "city", Category: "Ulm"}}, 1, 0, 0, 1), []float32{0, 0, 0, 1}, "does not know the columns city=Rom"},
		"a category without its column": {[]Column{{Name: "city=Bonn", Of: "city", Category: "Bonn"}, {Name: "a"}}, columnsOf(plain("a"), 1, 2), nil, "the data lacks city=Bonn"},
		"missing values that are marked": {[]Column{{Name: "a", Fill: number(3), Mean: number(1), Scale: number(2)}, {Name: "a missing", Of: "a", Missing: true}},
			columnsOf([]Column{{Name: "a", Fill: number(7)}, {Name: "a missing", Of: "a", Missing: true}}, 7, 1, 5, 0), []float32{1, 1, 2, 0}, ""},
		"no value is missing":                {[]Column{{Name: "a"}, {Name: "a missing", Of: "a", Missing: true}}, columnsOf(plain("a"), 7, 5), []float32{7, 0, 5, 0}, ""},
		"missing values that are not marked": {[]Column{{Name: "a", Fill: number(3)}}, columnsOf([]Column{{Name: "a", Fill: number(7)}}, 7, 5), []float32{7, 5}, "no column marks them"},
	} {
		if what == "no names here" {
			x.data.Features, x.data.FeatureCols, x.data.Schema.Features.Columns = []float32{1, 2, 3, 4}, 2, nil
			x.want, x.says = []float32{1, 2, 3, 4}, "compared by number"
		}
		s := &Schema{Version: 1, Features: Features{Cols: len(x.run), Columns: x.run}}
		for _, sparse := range []bool{false, true} {
			d := *x.data
			if sparse {
				if err := d.SetSparse(SparseOf(d.Features, d.FeatureCols), d.FeatureCols); err != nil {
					t.Fatal(err)
				}
			}
			got, notes, err := s.Fit(&d, Sides{Run: "run", Data: "new"})
			if (err == nil) != (x.want != nil) || err != nil && !strings.Contains(err.Error(), x.says) {
				t.Errorf("%s: %v, want %q", what, err, x.says)
			}
			if err != nil {
				continue
			}
			if sparse != (got.Late.Sparse != nil) {
				t.Errorf("%s: sparse features are dense now, or dense ones sparse", what)
			}
			got.HoldFeatures()
			if !slices.Equal(got.Features, x.want) || got.FeatureCols != len(x.run) || x.says != "" && !strings.Contains(strings.Join(notes, "\n"), x.says) || x.says == "" && notes != nil {
				t.Errorf("%s: %v, %q, want %v, %q", what, got.Features, notes, x.want, x.says)
			}
			if err := Validate(got); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestFitClasses: classes of other data get the run's numbers, by names or, where one side has none, by number.
func TestFitClasses(t *testing.T) {
	for what, x := range map[string]struct {
		run, data []string
		n, m      int // classes
		older     bool
		labels    []int32
		want      []int32 // nil: an error
		says      string
	}{
		"another order":                      {run: []string{"a", "b", "c"}, n: 3, data: []string{"c", "a"}, m: 2, labels: []int32{0, 1, -1}, want: []int32{2, 0, -1}},
		"one that the run does not know":     {run: []string{"a", "b"}, n: 2, data: []string{"b", "x"}, m: 2, labels: []int32{0, 1, 1}, want: []int32{1, -1, -1}, says: "2 of 3 labelled vertices are of classes that the run does not know (x)"},
		"none in common":                     {run: []string{"a", "b"}, n: 2, data: []string{"x", "y"}, m: 2, labels: []int32{0, 1, 1}, says: "none in common"},
		"numbers on both sides":              {n: 3, m: 2, labels: []int32{1, 0, 1}, want: []int32{1, 0, 1}},
		"a larger number":                    {n: 2, m: 4, labels: []int32{1, 0, 3}, want: []int32{1, 0, -1}, says: "(3)"},
		"values and numbers":                 {run: []string{"2", "10", "x"}, n: 3, m: 11, labels: []int32{10, 2, 10}, want: []int32{1, 0, 1}},
		"numbers and values":                 {n: 11, data: []string{"10", "2", "x"}, m: 3, labels: []int32{0, 1, 2}, want: []int32{10, 2, -1}, says: "(x)"},
		"names on one side":                  {run: []string{"a", "b"}, n: 2, m: 2, labels: []int32{1, 0, 1}, want: []int32{1, 0, 1}, says: "compared by number"},
		"names on one side, and not as many": {run: []string{"a", "b"}, n: 2, m: 3, labels: []int32{1, 0, 2}, says: "there must be as many"},
		"names that were lost":               {run: []string{"-1", "1"}, n: 2, m: 2, older: true, labels: []int32{1, 0, 1}, want: []int32{1, 0, 1}, says: "an earlier version did not keep"},
	} {
		s := &Schema{Version: 1, Vertex: Labels{Form: OneClass, Count: x.n, Classes: x.run}}
		d := &Data{Name: "new", Edges: &chunk.Edges{V: 3}, Labels: x.labels, Classes: x.m, Train: []uint32{0}, Test: []uint32{1, 2}}
		d.Schema.Vertex.Classes, d.Schema.Older = x.data, x.older
		before := slices.Clone(x.labels)
		got, _, notes, err := s.FitLabels(d, VertexLabels, Sides{Run: "run", Data: "new"})
		if err != nil {
			if x.want != nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%s: %v, want %q", what, err, x.says)
			}
			continue
		}
		if !slices.Equal(got.Labels, x.want) || got.Classes != x.n || !strings.Contains(strings.Join(notes, "\n"), x.says) {
			t.Errorf("%s: %v of %d, %q, want %v, %q", what, got.Labels, got.Classes, notes, x.want, x.says)
		}
		for _, list := range got.Splits(VertexLabels) {
			for _, v := range list {
				if got.Labels[v] < 0 && x.labels[v] >= 0 {
					t.Errorf("%s: vertex %d without a label is in a split", what, v)
				}
			}
		}
		if !slices.Equal(d.Labels, before) || d.Classes != x.m {
			t.Errorf("%s: the data was changed", what)
		}
	}
	several := &Data{Name: "new", Edges: &chunk.Edges{V: 1}, MultiLabels: []float32{1, 0}, Classes: 2}
	one := &Schema{Version: 1, Vertex: Labels{Form: OneClass, Count: 2}}
	if _, _, _, err := one.FitLabels(several, VertexLabels, Sides{"run", "new"}); err == nil || err.Error() != "new has several classes for one vertex, and run was trained on one class for each vertex" {
		t.Error(err)
	}
}

// TestPlaces finds vertices by their ids, numbers or texts.
func TestPlaces(t *testing.T) {
	for what, x := range map[string]struct {
		of   Naming
		n    int
		data Naming
		v    int
		want []uint32
		says string
	}{
		"counted":                   {Naming{}, 5, Naming{}, 3, nil, ""},
		"counted from 1":            {Naming{First: 1}, 3, Naming{First: 1}, 3, nil, ""},
		"counted from 1, and ids":   {Naming{First: 1}, 3, Naming{IDs: []uint64{3, 1}}, 2, []uint32{2, 0}, ""},
		"numbers as texts":          {Naming{IDs: []uint64{7, 8}}, 2, Naming{Names: []string{"8", "7"}}, 2, []uint32{1, 0}, ""},
		"the same":                  {Naming{Names: []string{"a", "b"}}, 2, Naming{Names: []string{"a", "b"}}, 2, nil, ""},
		"a new one":                 {Naming{Names: []string{"a", "b"}}, 2, Naming{Names: []string{"b", "c"}}, 2, nil, `1 of the 2 vertices of new, "c" the first, have no learned row: run has rows of 2 vertices (a, b, …)`},
		"more vertices":             {Naming{}, 2, Naming{}, 3, nil, `1 of the 3 vertices of new, "2" the first`},
		"two of one id in the run":  {Naming{IDs: []uint64{7, 7}}, 2, Naming{IDs: []uint64{7}}, 1, nil, `run has two vertices "7"`},
		"counted from 0 and from 1": {Naming{}, 3, Naming{First: 1}, 2, []uint32{1, 2}, ""},
	} {
		d := &Data{Edges: &chunk.Edges{V: x.v}, Vertices: x.data}
		got, err := d.Places(x.of, x.n, Sides{"run", "new"})
		if x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) || x.says == "" && (err != nil || !cmp.Equal(got, x.want)) {
			t.Errorf("%s: %v, %v, want %v, %q", what, got, err, x.want, x.says)
		}
	}
}

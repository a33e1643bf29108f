package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sagann/saga"
)

// Shape is the size of a graph that benchmarks generate.
type Shape struct {
	Vertices          int
	Edges             int64  // in both directions where the graph is undirected
	Features, Classes int    // 0: papers on sampling give none
	Train             int    // training vertices; 0: papers give none
	From              string // where the sizes stand
}

// shapes are the graphs of papers by name. Benchmarks draw their edges; features and labels are made up.
var shapes = map[string]Shape{
	"cora":          {2708, 10_556, 1433, 7, 0, "NGra, Table 2"},
	"pubmed":        {19_700, 108_400, 500, 3, 0, "NGra, Table 2"},
	"protein":       {43_500, 205_600, 29, 3, 0, "NGra, Table 2"},
	"blogcatalog":   {10_300, 668_000, 128, 39, 0, "NGra, Table 2"},
	"reddit_small":  {46_600, 1_400_000, 602, 41, 0, "NGra, Table 2"},
	"reddit_middle": {233_000, 23_200_000, 602, 41, 0, "NGra, Table 2"},
	"reddit_full":   {2_200_000, 571_000_000, 300, 50, 0, "NGra, Table 2"},
	"enwiki":        {3_200_000, 222_100_000, 300, 12, 0, "NGra, Table 2"},

	"reddit":          {232_965, 114_615_892, 602, 41, 153_431, "FastGL"},
	"products":        {2_449_029, 123_718_280, 100, 47, 196_615, "OGB"},
	"products_fastgl": {2_449_029, 123_718_280, 200, 47, 196_615, "FastGL, whose products has 200 features"},
	"mag":             {10_100_000, 300_000_000, 100, 8, 196_615, "FastGL"},
	"papers100M":      {111_059_956, 1_615_685_872, 128, 172, 1_200_000, "OGB"},
	"tiny":            {20_000, 400_000, 32, 8, 5_000, "to try a command"},

	"ppi":         {50_000, 1_400_000, 0, 0, 0, "NextDoor"},
	"patents":     {3_770_000, 16_500_000, 0, 0, 0, "NextDoor"},
	"livejournal": {4_850_000, 69_000_000, 0, 0, 0, "NextDoor"},
	"orkut":       {3_070_000, 117_000_000, 0, 0, 0, "NextDoor"},
	"friendster":  {65_600_000, 1_800_000_000, 0, 0, 0, "NextDoor"},
}

// ShapeOf is the shape with a name. The error lists the names.
func ShapeOf(name string) (Shape, error) {
	s, ok := shapes[name]
	if !ok {
		return s, fmt.Errorf("no shape %s: there are %s", name, Shapes(All))
	}
	return s, nil
}

// Shapes lists the names of the shapes for which keep is true.
func Shapes(keep func(s Shape) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		if keep(shapes[name]) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Rows tells whether a shape has features and classes, so that models can be trained on a graph of its size.
func Rows(s Shape) bool { return s.Features > 0 }

// Seeds tells whether a shape says how many vertices are trained on.
func Seeds(s Shape) bool { return s.Train > 0 }

// All is true.
func All(Shape) bool { return true }

// Plan is the shape with a name, which must be one of the list, as saga.Plan takes it.
func Plan(name string) saga.Shape {
	s, err := ShapeOf(name)
	if err != nil {
		panic(err)
	}
	return saga.Shape{Vertices: s.Vertices, Edges: s.Edges, Features: s.Features, Classes: s.Classes}
}

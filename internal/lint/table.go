package lint

// row says what the packages of one part of the module may import of the others.
// A part is a folder with all below it, but for folders that have a row of their
// own. Packages of one part may import each other.
type row struct {
	part string
	may  []string // parts, or single packages below one
	std  bool     // nothing but the standard library
}

// imports is the house: what stands in a row may import only what stands lower.
// In-package tests may import all that stands lower in descent; tests in a package
// of their own (name_test) may import everything.
var imports = []row{
	{part: "cmd", may: below("layers")},
	{part: "bench", may: below("layers")},
	{part: "examples", may: public},
	{part: "layers", may: below("saga")},
	{part: "saga", may: below("ops")},
	{part: "ops", may: []string{"dataflow", "kernel", "internal/simd"}},
	{part: "dataflow", may: []string{"dataflow/exec", "dataflow/plan", "kernel", "chunk"}},
	{part: "dataflow/tune", may: []string{"dataflow/plan/planner", "dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/exec", may: []string{"dataflow/plan", "kernel", "device", "chunk"}},
	{part: "dataflow/plan/plantest", may: []string{"dataflow/plan/planner", "dataflow/plan/sim", "dataflow/plan"}}, // for tests
	{part: "dataflow/plan/planner", may: []string{"dataflow/plan/order", "dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/plan/view", may: []string{"dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/plan/order", may: []string{"dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan", "ring"}},
	{part: "dataflow/plan/layout", may: []string{"dataflow/plan"}},
	{part: "dataflow/plan/sim", may: []string{"dataflow/plan", "ring"}},
	{part: "dataflow/plan", may: []string{"ring"}},
	{part: "mine", may: []string{"chunk", "dataset", "device", "internal"}},
	{part: "kernel", may: []string{"internal/simd", "chunk"}},
	{part: "device", may: []string{"internal"}},
	{part: "dataset", may: []string{"chunk"}},
	{part: "chunk", std: true},
	{part: "ring", std: true},
	{part: "internal", may: []string{"internal"}},
	{part: "internal/eval", may: []string{"ops", "dataflow", "kernel", "chunk"}}, // the oracle of tests
}

// descent lists the parts from the top; below(x) is x and what comes after it.
var descent = []string{
	"layers", "saga", "ops", "dataflow/tune", "dataflow", "dataflow/exec", "dataflow/plan/planner", "dataflow/plan/view",
	"dataflow/plan/order", "dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan",
	"mine", "kernel", "device", "dataset", "chunk", "ring", "internal",
}

// public are the parts that a program outside the module can import.
var public = descent[:len(descent)-1]

// testOnly are packages that only tests, and packages named *test, may import.
var testOnly = []string{"internal/draw", "internal/eval", "internal/golden", "internal/lint", "internal/testdata", "dataflow/plan/plantest"}

// machine are the folders below which build tags and assembly may stand.
var machine = []string{"device", "internal/simd"}

// cgo are the folders below which a file may import "C".
var cgo = []string{"device"}

// maxLines is the length of the longest source file, generated ones apart.
const maxLines = 500

// words may not stand in any text file: the project does not name places outside
// itself. They are put together here so that this file passes.
var words = []string{"/wor" + "k/", "shared/" + "DESIGN"}

func below(part string) []string {
	for i, p := range descent {
		if p == part {
			return descent[i:]
		}
	}
	panic("lint: no part " + part)
}

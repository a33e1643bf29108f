package lint

// row says what the packages of one part of the module may import of the others.
// A part is a folder with all below it, but for folders that have a row of their
// own. Packages of one part may import each other.
type row struct {
	part string
	may  []string // parts, or single packages below one
	std  bool     // nothing but the standard library beside them
}

// imports is the layering of the module: a row lists what a part may import.
// In-package tests may import everything that is lower in descent; tests in a package
// of their own (name_test) may import everything.
var imports = []row{
	{part: "cmd", may: below("bench/tables")},
	{part: "bench", may: below("bench/tables")},
	{part: "bench/tables", may: below("bench/measure")},
	{part: "bench/measure", may: below("saga")},
	{part: "examples", may: public},
	{part: "layers", may: below("saga")},
	{part: "saga", may: below("saga/report")},
	{part: "saga/report", may: below("dataflow")},
	{part: "saga/batches", may: below("saga/rows")},
	{part: "saga/rows", may: []string{"dataflow/plan", "dataflow", "kernel", "net", "device", "dataset", "chunk"}},
	{part: "ops", may: []string{"dataflow", "kernel", "internal/simd"}},
	{part: "dataflow", may: []string{"dataflow/plan", "kernel", "chunk"}},
	{part: "dataflow/tune", may: []string{"dataflow/plan/planner", "dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/exec", may: []string{"dataflow/plan", "backend", "kernel/cpu", "kernel", "device", "net", "chunk"}},
	{part: "dataflow/plan/plantest", may: []string{"dataflow/plan/planner", "dataflow/plan/sim", "dataflow/plan"}}, // for tests
	{part: "dataflow/plan/planner", may: []string{"dataflow/plan/order", "dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/plan/view", may: []string{"dataflow/plan/sim", "dataflow/plan"}},
	{part: "dataflow/plan/order", may: []string{"dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan", "ring"}},
	{part: "dataflow/plan/layout", may: []string{"dataflow/plan"}},
	{part: "dataflow/plan/sim", may: []string{"dataflow/plan", "ring", "internal/regular"}},
	{part: "dataflow/plan", may: []string{"ring", "internal/units"}},
	{part: "sample", may: []string{"chunk", "dataset", "device", "internal"}},
	{part: "mine", may: []string{"chunk", "dataset", "device", "net", "internal"}},
	{part: "backend", may: []string{"kernel/cuda", "kernel", "device"}}, // the table of the kinds of devices
	{part: "kernel/cuda", may: []string{"kernel"}},
	{part: "kernel/cpu", may: []string{"kernel", "internal/simd", "chunk"}},
	{part: "kernel"},
	{part: "device", may: []string{"internal"}},
	{part: "net/local", may: []string{"net"}},
	{part: "net/mpi", may: []string{"net"}},
	{part: "net/tcp", may: []string{"net"}},
	{part: "net", std: true}, // messages between ranks
	{part: "dataset", may: []string{"chunk", "internal/regular", "internal/words"}},
	{part: "chunk", may: []string{"internal/regular"}, std: true},
	{part: "ring", std: true},
	{part: "internal", may: []string{"internal"}},
	{part: "internal/cli", may: below("saga")},                                   // what commands share
	{part: "internal/eval", may: []string{"ops", "dataflow", "kernel", "chunk"}}, // the oracle of tests
}

// descent lists the parts from the top; below(x) is x and what comes after it.
var descent = []string{
	"bench/tables", "bench/measure", "internal/cli", "layers", "saga", "saga/report", "saga/batches", "saga/rows", "ops", "dataflow/tune", "dataflow", "dataflow/exec",
	"dataflow/plan/planner", "dataflow/plan/view", "dataflow/plan/order", "dataflow/plan/layout", "dataflow/plan/sim", "dataflow/plan",
	"sample", "mine", "backend", "kernel/cuda", "kernel/cpu", "kernel", "device", "net/mpi", "net/tcp", "net/local", "net", "dataset", "chunk", "ring", "internal",
}

// public are the parts that a program outside the module can import.
var public = descent[3 : len(descent)-1]

// testOnly are packages that only tests, and packages named *test, may import.
var testOnly = []string{"internal/draw", "internal/eval", "internal/golden", "internal/lint", "internal/testdata", "dataflow/plan/plantest", "kernel/kerneltest"}

// machine are the folders below which build tags and assembly are allowed.
var machine = []string{"device", "internal/simd", "net/mpi"}

// deviceKinds are the names in package backend's table.
var deviceKinds = []string{"cpu", "null", "cuda"}

// kindFolders are the folders below which code may compare a device's kind with a literal.
var kindFolders = []string{"device", "kernel/cuda", "backend", "bench"}

// cgo are the folders below which a file may import "C".
var cgo = []string{"device", "net/mpi"}

// The largest sizes, generated files apart.
const (
	maxLines     = 400 // of a file
	maxTestLines = 500 // of a file of tests
	maxFuncLines = 100 // of a function
	maxBranches  = 30  // of a function: if, for, range, case, && and || count one each
	maxFields    = 20  // of a struct, those of embedded structs and of structs without a name included
)

// largeRecords, as folder.name, have more fields: at most so many.
var largeRecords = map[string]int{
	"dataset.Data":   21, // what a graph may have
	"saga.Config":    23, // what users set
	"layers.Options": 21, // what users set; options of single models go into Own
}

// configured are the folders in which a field named cfg holds a saga.Config.
var configured = []string{"saga", "cmd", "bench", "examples"}

// namedByRule are the packages whose doc.go gives a rule for the names of files instead of a list.
var namedByRule = []string{"bench/tables", "cmd/saga", "layers"}

// words may not occur in any text file, as the project must not name places outside
// itself. They are written in parts so that this file passes.
var words = []string{"/wor" + "k/", "shared/" + "DESIGN"}

func below(part string) []string {
	for i, p := range descent {
		if p == part {
			return descent[i:]
		}
	}
	panic("lint: no part " + part)
}

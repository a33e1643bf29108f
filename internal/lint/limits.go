package lint

// The figures of this file may only fall (TestRatchet).

// maxMethods is the largest number of methods of a type.
const maxMethods = 60

// manyMethods are the types, as folder.name, that have more: at most so many.
var manyMethods = map[string]int{
	"saga.Program":   116,
	"sample.Program": 62,
}

// modeFields are the fields of saga.Program that tell what kind of program it is, and maxModes is the number of conditions
// of if in package saga that may read them.
var modeFields = []string{"sampled", "output", "shape"}

const maxModes = 6

// maxCircle is the largest set of files of a package that reach each other by calls.
const maxCircle = 8

// largeCircles are the packages that have a larger one: at most so many files.
var largeCircles = map[string]int{
	"dataflow": 17,
	"dataset":  52,
}

// backCalls are the packages whose doc.go says that a file calls the files listed below it, with the number of pairs
// of files that break this.
var backCalls = map[string]int{
	"dataflow/exec":        0,
	"dataflow/plan/layout": 0,
	"dataflow/plan/order":  0,
	"dataflow/plan/sim":    0,
	"dataflow/tune":        0,
	"kernel/cpu":           0,
	"kernel/cuda":          0,
	"saga":                 0,
	"saga/batches":         0,
	"saga/rows":            0,
}

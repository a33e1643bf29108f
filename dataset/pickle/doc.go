// Package pickle reads Python pickles as plain records.
//
// Nothing that a pickle names is imported or called. A class or
// function becomes its name, and a call of it becomes a Record of the arguments,
// items and state; a scalar of NumPy is its string or number. Read knows protocols 0 to 5. It checks every length against the
// size of the file before it allocates, and takes time in proportion to that size. The number of values is bounded by the
// bytes that the pickle takes on disk; values that hold themselves or nest deep are refused.
//
// Files: read.go, step.go, text.go (instructions), scalar.go (scalars of NumPy), check.go (cycles and depth), value.go.
package pickle

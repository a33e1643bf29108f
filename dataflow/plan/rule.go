package plan

// Rule is what the decoder goes by when it decides what stays on the device: priorities,
// which it turns into a plan that fits. Every rule leads to a valid plan.
type Rule struct {
	First First     // what memory is given to first
	Brief bool      // copies saved are counted for each phase of a value's life
	Ahead int       // more buffers of a streamed cell, in eighths of the intervals: copies may run farther ahead of kernels
	Over  bool      // memory is taken and given back chunk by chunk: what a phase makes takes the place of what it reads last
	Move  bool      // with Over: what stays from one step to the next may lie elsewhere at the end of a step than at its beginning, and is copied
	Price []float64 // by phase: what a copy there counts; nil: as any
}

// First is what memory is given to first. The others come after it.
type First uint8

// What memory may be given to first.
const (
	WholeFirst   First = iota // what fits whole
	WindowsFirst              // windows, on one device
	SlotsFirst                // slots of what streams
)

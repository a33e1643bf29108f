package plan

// Rule is what the decoder goes by when it decides what stays on the device: priorities,
// which it turns into a plan that fits. Every rule leads to a valid plan.
type Rule struct {
	Ahead   int       // more buffers of a streamed cell, in eighths of the intervals: copies may run farther ahead of kernels
	Even    bool      // no larger groups in phases where memory is left
	Brief   bool      // copies saved are counted for each phase of a value's life
	Lasting bool      // windows may stay from one step to the next
	First   []int     // values, or -1-dir: cells (Window.Key), that come before all others
	Never   []int     // those that are not kept whole
	Price   []float64 // by phase: what a copy there counts; nil: as any
	Hidden  float64   // memory is dealt out by an estimate of the step instead, where a copy that runs beside kernels counts so much; 0: it is not
}

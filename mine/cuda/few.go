package cuda

// Few makes grids as small as those of a GPU of one multiprocessor, and pools small, for
// tests with emulated GPUs; it returns what undoes that.
func Few() (undo func()) {
	p, b := processors, listBlocks
	processors, listBlocks = 1, 64
	return func() { processors, listBlocks = p, b }
}

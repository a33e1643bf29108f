package kernel

// Chip is what launches fit themselves to of a GPU. It decides how many rows a tile has and
// which kernels gather, and with that the order of some sums.
type Chip struct {
	Processors int   // multiprocessors
	Cache      int64 // bytes of the second-level cache
	Groups     bool  // groups of four warps multiply from shared memory
}

// productBlock is how many rows of its result a block of a product has in the library that
// multiplies.
const productBlock = 256

// wave is how many rows of a product the whole chip works on at a time. Products waste
// least where their rows fill it a whole number of times.
func (c Chip) wave() int { return c.Processors * productBlock }

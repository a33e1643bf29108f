package cuda

import _ "embed"

// numberText is what kernels of rows share: a Number of a row is a float or, with HALF, a bfloat16.
//
//go:embed number.cu
var numberText string

// productText is to = a·b of rows×inner and inner×cols numbers, all row-major, in 32 bits. To has ld numbers a row. A number
// of the product is summed in the order of inner, however many rows there are: a library's product picks its kernel by
// sizes, and its bits with it. A block of 256 threads makes 128×128 numbers, a thread 8×8 of them, in four corners.
//
//go:embed product.cu
var productText string

// productSide is SIDE, and productShared the shared memory of a block in bytes.
const (
	productSide   = 128
	productShared = 4 * 8 * (productSide + 4 + productSide)
)

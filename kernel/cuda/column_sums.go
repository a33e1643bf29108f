package cuda

import _ "embed"

// Sums over rows on a GPU, in two steps of fixed order. First a block sums a range of rows for columnTile columns. 16
// lanes have four columns each, and 16 rows are summed side by side, with four reads in flight. In the largest tile a
// float32 chain adds 64 rows. Then a block adds the partial sums of 32 numbers of the m×n result in float64, eight ranges
// side by side, and adds them to a Global. The Global may carry its rounding error (kernel/cpu/long_sums.go).
const (
	columnTile    = 64
	columnThreads = 256
)

//go:embed column_sums.cu
var columnsSource string

package kernel

import "math"

// NoColumn stands behind the last column of a sparse row (ops/sparse.go).
const NoColumn = math.MaxUint32

// SparseRow writes the columns of a sparse row of 2k numbers to ids, which has room for k, and says how
// many there are. Their values are at row[k].
func SparseRow(row []float32, ids []uint32) int {
	for j, c := range row[:len(row)/2] {
		if ids[j] = math.Float32bits(c); ids[j] == NoColumn {
			return j
		}
	}
	return len(row) / 2
}

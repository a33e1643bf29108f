package dataset

import (
	"fmt"
	"slices"
)

// readMatrix reads a text of numbers, a row a line, all of one width.
func readMatrix(t *textFile) (values []float32, cols int, err error) {
	err = t.eachLine(func(line []byte) error {
		n := 0
		for len(line) > 0 {
			var f []byte
			f, line = field(line)
			x, err := parseFloat(f)
			var y float32
			if err == nil {
				y, err = toFloat32(x)
			}
			if err != nil {
				return t.errorf("column %d: %w", n, err)
			}
			values = append(values, y)
			n++
		}
		if cols == 0 {
			cols = n
		}
		if n != cols {
			return t.errorf("%d columns, the rows before have %d", n, cols)
		}
		return nil
	})
	return values, cols, err
}

// readInts reads the first whole number of each line. With missing, an empty
// field or nan gives -1.
func readInts(t *textFile, missing bool) ([]int64, error) {
	var out []int64
	err := t.eachLine(func(line []byte) error {
		f, _ := field(line)
		if missing && (len(f) == 0 || string(f) == "nan" || string(f) == "NaN") {
			out = append(out, -1)
			return nil
		}
		n, err := parseInt(f)
		if err != nil {
			return t.errorf("%w", err)
		}
		out = append(out, n)
		return nil
	})
	return out, err
}

// classesOf numbers the values that occur 0, 1, 2, … in ascending order.
func classesOf(values []int64) (labels []int32, classes int) {
	known := slices.Clone(values)
	slices.Sort(known)
	known = slices.Compact(known)
	labels = make([]int32, len(values))
	for i, x := range values {
		k, _ := slices.BinarySearch(known, x)
		labels[i] = int32(k)
	}
	return labels, len(known)
}

// classCount is 1 + the largest label; -1 stands for none. Labels must be
// plausible classes of so many rows.
func classCount(labels []int32) (int, error) {
	top := int32(0)
	for i, c := range labels {
		if !isClass(c, len(labels)) {
			return 0, fmt.Errorf("row %d has label %d: must be -1 for none, or a class from 0 on, below %d here", i, c, 1<<20+len(labels))
		}
		top = max(top, c)
	}
	return int(top) + 1, nil
}

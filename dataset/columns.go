package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// readRows reads a text of numbers with one row on each line. All rows have the same width.
func readRows[T int64 | float32](t *textFile) (values []T, cols int, err error) {
	err = t.eachLine(func(line []byte) error {
		before := len(values)
		switch x := any(&values).(type) {
		case *[]float32:
			*x, err = t.appendFloats(*x, line)
		case *[]int64:
			*x, err = t.appendInts(*x, line)
		}
		if err != nil {
			return err
		}
		n := len(values) - before
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

// appendFloats appends the numbers of a line to x.
func (t *textFile) appendFloats(x []float32, line []byte) ([]float32, error) {
	for n := 0; len(line) > 0; n++ {
		var f []byte
		f, line = field(line)
		y, err := parseFloat(f)
		var z float32
		if err == nil {
			z, err = toFloat32(y)
		}
		if err != nil {
			return x, t.errorf("column %d: %w", n, err)
		}
		x = append(x, z)
	}
	return x, nil
}

// appendInts appends the whole numbers of a line to x.
func (t *textFile) appendInts(x []int64, line []byte) ([]int64, error) {
	for n := 0; len(line) > 0; n++ {
		var f []byte
		f, line = field(line)
		y, err := parseInt(f)
		if err != nil {
			return x, t.errorf("column %d: %w", n, err)
		}
		x = append(x, y)
	}
	return x, nil
}

// classesOf numbers the different values 0, 1, 2, … in ascending order. names has the values, unless they are 0, 1,
// 2, … already.
func classesOf(values []int64) (labels []int32, names []string, classes int) {
	known := slices.Clone(values)
	slices.Sort(known)
	known = slices.Compact(known)
	labels = make([]int32, len(values))
	for i, x := range values {
		k, _ := slices.BinarySearch(known, x)
		labels[i] = int32(k)
	}
	if n := len(known); n > 0 && (known[0] != 0 || known[n-1] != int64(n-1)) {
		for _, x := range known {
			names = append(names, strconv.FormatInt(x, 10))
		}
	}
	return labels, names, len(known)
}

// classCount is 1 + the largest label; label -1 means none. It is an error if a label is implausibly
// large for so many rows.
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

// floatRows reads a text of numbers, one row on each line, in pieces.
type floatRows struct {
	*textFile
	cols int
	rows int // number of rows read so far
}

// openFloats opens path, or path+".gz", whose rows have cols numbers.
func openFloats(path string, cols int) (*floatRows, error) {
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	return &floatRows{textFile: t, cols: cols}, nil
}

// textColumns is the width of the first row of such a text; 0 if it has no rows.
func textColumns(path string) (cols int, err error) {
	t, err := openText(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer t.Close()
	line, err := t.nextRow()
	if err == io.EOF {
		return 0, fmt.Errorf("%s: no rows", t.name)
	}
	for err == nil && len(line) > 0 {
		_, line = field(line)
		cols++
	}
	return cols, err
}

// next appends the next rows, at most n, to x.
func (r *floatRows) next(x []float32, n int) ([]float32, error) {
	for range n {
		line, err := r.nextRow()
		if err == io.EOF {
			return x, nil
		}
		if err != nil {
			return x, err
		}
		before := len(x)
		if x, err = r.appendFloats(x, line); err != nil {
			return x, err
		}
		if k := len(x) - before; k != r.cols {
			return x, r.errorf("%d columns, the rows before have %d", k, r.cols)
		}
		r.rows++
	}
	return x, nil
}

// each calls fn for pieces of the rows. There must be exactly want rows.
func (r *floatRows) each(want int, what string, fn func([]float32) error) error {
	var x []float32
	for {
		var err error
		if x, err = r.next(x[:0], min(max(1, pieceValues/r.cols), want+1-r.rows)); err != nil {
			return err
		}
		if len(x) == 0 || r.rows > want {
			break
		}
		if err := fn(x); err != nil {
			return err
		}
	}
	if r.rows < want {
		return fmt.Errorf("%s: %d rows for %d %s", r.name, r.rows, want, what)
	}
	if r.rows > want {
		return r.errorf("more rows than the %d %s", want, what)
	}
	return nil
}

// ended returns an error if there are more rows.
func (r *floatRows) ended(want int, what string) error {
	if _, err := r.nextRow(); err == nil {
		return r.errorf("more rows than the %d %s", want, what)
	} else if err != io.EOF {
		return err
	}
	return nil
}

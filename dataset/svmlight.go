package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// This file reads SVMlight files (Joachims, 1999; LIBSVM uses them, too). Line v is vertex v: its label, and
// then the entries of its feature row as column:value, with ascending columns:
//
//	2 1:0.5 7:1 # a comment
//
// If all labels are -1 or +1, they become classes 0 and 1. If all are whole numbers, they are classes.
// Several classes of a vertex have commas between them. Other labels are numbers to predict. As in
// scikit-learn, columns are counted from 1, or from 0 if a column 0 occurs. Queries (qid:3) are ignored.

// isSVMlight reports whether a file has the ending of SVMlight files.
func isSVMlight(path string) bool {
	path = plainName(strings.ToLower(path))
	for _, ending := range []string{".svm", ".svmlight", ".libsvm"} {
		if strings.HasSuffix(path, ending) {
			return true
		}
	}
	return false
}

// svmFile is the contents of an SVMlight file.
type svmFile struct {
	*textFile
	rows    SparseRows
	most    uint32 // largest column
	zero    bool   // column 0 occurs
	values  []float32
	several [][]int32 // by line: its classes; nil while all lines have one label
	whole   bool      // all labels are whole numbers
	signs   bool      // all are -1 or 1
}

// loadSVMlight reads labels into d, whose vertices are the lines, and returns the feature rows.
func loadSVMlight(path string, d *Data) (*SparseRows, error) {
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	f := &svmFile{textFile: t, rows: SparseRows{Ptr: []int64{0}}, whole: true, signs: true}
	for {
		line, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := f.row(line); err != nil {
			return nil, t.errorf("%w", err)
		}
	}
	v := len(f.rows.Ptr) - 1
	if v == 0 {
		return nil, fmt.Errorf("%s: no lines with a label and entries", t.name)
	}
	if len(f.rows.Cols) == 0 {
		return nil, fmt.Errorf("%s: no entries, such as 7:0.5", t.name)
	}
	d.FeatureCols = int(f.most) + 1
	if !f.zero {
		d.FeatureCols--
		for i := range f.rows.Cols {
			f.rows.Cols[i]--
		}
	}
	if err := f.labels(d); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return &f.rows, nil
}

// row reads a line. Blank lines and comments are skipped.
func (f *svmFile) row(line []byte) error {
	line, _, _ = bytes.Cut(line, []byte("#"))
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	label := fields[0]
	if bytes.IndexByte(label, ':') >= 0 { // it is an entry: the vertex has none of several labels
		label = nil
	} else {
		fields = fields[1:]
	}
	if err := f.label(label); err != nil {
		return err
	}
	last := int64(-1)
	for _, field := range fields {
		column, value, ok := bytes.Cut(field, []byte(":"))
		if ok && string(column) == "qid" {
			continue
		}
		c, err := parseInt(column)
		if !ok || err != nil || c < 0 || c >= math.MaxInt32 {
			return fmt.Errorf("%.40q: want column:value, with a column from 0 to %d", field, math.MaxInt32-1)
		}
		if c <= last {
			return fmt.Errorf("column %d stands behind column %d; columns ascend, and none stands twice", c, last)
		}
		y, err := parseFloat(value)
		x := float32(y)
		if err == nil {
			x, err = toFloat32(y)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", c, err)
		}
		last = c
		f.zero = f.zero || c == 0
		f.most = max(f.most, uint32(c))
		if x != 0 {
			f.rows.Cols, f.rows.Vals = append(f.rows.Cols, uint32(c)), append(f.rows.Vals, x)
		}
	}
	if len(f.rows.Ptr) == math.MaxUint32 {
		return fmt.Errorf("more than 2^32 vertices")
	}
	f.rows.Ptr = append(f.rows.Ptr, int64(len(f.rows.Cols)))
	return nil
}

// label reads the text before the entries: one number, or several with commas between them.
func (f *svmFile) label(text []byte) error {
	if f.several == nil && (text == nil || bytes.IndexByte(text, ',') >= 0) {
		f.several = make([][]int32, 0, len(f.values)+1)
		for _, x := range f.values {
			if !f.whole || x < 0 {
				return fmt.Errorf("several labels, and lines before have the label %v", x)
			}
			f.several = append(f.several, []int32{int32(x)})
		}
	}
	if f.several != nil {
		var list []int32
		for part := range bytes.SplitSeq(text, []byte(",")) {
			if len(text) == 0 {
				break
			}
			n, err := parseInt(part)
			if err != nil || n < 0 || n >= maxClasses {
				return fmt.Errorf("label %.40q: several labels of a vertex are classes from 0 to %d", part, maxClasses-1)
			}
			list = append(list, int32(n))
		}
		f.several = append(f.several, list)
		return nil
	}
	y, err := parseFloat(bytes.TrimPrefix(text, []byte("+")))
	var x float32
	if err == nil {
		x, err = toFloat32(y)
	}
	if err != nil {
		return fmt.Errorf("label %.40q: %w", text, err)
	}
	f.whole = f.whole && y == math.Trunc(y) && y >= -1 && y < maxClasses
	f.signs = f.signs && (y == 1 || y == -1)
	f.values = append(f.values, x)
	return nil
}

// labels sets the labels or targets of d.
func (f *svmFile) labels(d *Data) error {
	v := len(f.rows.Ptr) - 1
	switch {
	case f.several != nil:
		for _, list := range f.several {
			for _, k := range list {
				d.Classes = max(d.Classes, int(k)+1)
			}
		}
		if d.Classes == 0 {
			return nil
		}
		if err := checkDense(v, d.Classes, f.size); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
		d.MultiLabels = make([]float32, v*d.Classes)
		for r, list := range f.several {
			for _, k := range list {
				d.MultiLabels[r*d.Classes+int(k)] = 1
			}
		}
	case !f.whole:
		d.Targets.Vertex, d.Targets.Cols = f.values, 1
	default:
		d.Labels = make([]int32, v)
		for r, x := range f.values {
			d.Labels[r] = int32(x)
			if f.signs {
				d.Labels[r] = int32(x+1) / 2
			}
			d.Classes = max(d.Classes, int(d.Labels[r])+1)
		}
		if f.signs {
			d.Classes = 2
			d.Schema.Vertex.Classes = []string{"-1", "+1"}
			d.Report.Changes = append(d.Report.Changes, "labels -1 and +1 are classes 0 and 1")
		}
		if d.Classes == 0 { // all are -1
			d.Labels = nil
		}
	}
	return nil
}

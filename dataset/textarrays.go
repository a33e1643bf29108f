package dataset

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
)

// textArrays finds the text files in dir that have the names of arrays, such as features.csv or y.txt, and returns
// the file of each array by our name. An edge list is not an array. Two files for one array are an error.
func textArrays(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, e := range entries {
		ending := endingOf(e.Name())
		if !e.Type().IsRegular() || !slices.Contains(edgeListEndings, ending) {
			continue
		}
		ours := ourName(strings.TrimSuffix(plainName(e.Name()), ending))
		if ours == "" || ours == "edges" {
			continue
		}
		if files[ours] != "" {
			return nil, fmt.Errorf("%s: %s and %s both hold %s", dir, files[ours], e.Name(), ours)
		}
		files[ours] = e.Name()
	}
	return files, nil
}

// ourName is our name of the array that a file is named after; "" if it is not named after one.
func ourName(stem string) string {
	if slices.Contains(ourNames, stem) {
		return stem
	}
	for ours, theirs := range otherNames {
		if slices.Contains(theirs, stem) {
			return ours
		}
	}
	return ""
}

// readTextArrays reads the files of textArrays.
func readTextArrays(dir string) (arrays []*textArray, err error) {
	files, err := textArrays(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range arraysBeside(dir) {
		if twin := files[ourName(strings.TrimSuffix(file, ".npy"))]; twin != "" {
			return nil, fmt.Errorf("%s: %s and %s both hold %s", dir, twin, file, ourName(strings.TrimSuffix(file, ".npy")))
		}
	}
	for _, name := range ourNames {
		if files[name] == "" {
			continue
		}
		a := &textArray{name: name}
		if err := a.read(filepath.Join(dir, files[name])); err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
	}
	return arrays, nil
}

// textArray is a text of numbers with one row on each line.
type textArray struct {
	name    string // ours
	path    string
	cols    int
	values  []float64 // NaN for empty fields
	ids     bool      // the heading says that the first column is ids
	headed  bool      // there is a heading
	counted bool      // the first column was ids and is left out
	sorted  bool      // these were in ascending order
}

// read reads the text. A first line of words is a heading.
func (a *textArray) read(path string) error {
	t, err := openTable(path, tableOptions{heading: "no"})
	if err != nil {
		return err
	}
	defer t.Close()
	a.path, a.cols = t.name, len(t.columns)
	line := 0
	return t.eachRow(func(row [][]byte) error {
		if line++; t.textFile.line != line {
			return t.errorf("a blank line before: write nan for a row without a number")
		}
		for i, f := range row {
			x, ok := textNumber(bytes.TrimSpace(f))
			if !ok && line == 1 {
				first := strings.TrimSpace(string(row[0]))
				a.values, a.headed, a.ids = nil, true, first == "" || isUsual(first, usualID) || isUsual(first, []string{"name"})
				return nil
			}
			if !ok {
				return t.errorf("column %d: %.40q is not a number", i+1, f)
			}
			a.values = append(a.values, x)
		}
		return nil
	})
}

// textNumber reads a field: a number, true, false, or an empty field.
func textNumber(f []byte) (float64, bool) {
	switch strings.ToLower(string(f)) {
	case "", "nan":
		return math.NaN(), true
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	x, err := parseFloat(f)
	return x, err == nil
}

// array makes the array that an .npy file of that name would hold.
func (a *textArray) array() (*npy.Array, error) {
	rows := len(a.values) / a.cols
	if rows == 0 {
		return nil, fmt.Errorf("%s: no rows", a.path)
	}
	shape := []int{rows, a.cols}
	if a.cols == 1 && a.name != "features" && a.name != "edge_data" {
		shape = shape[:1]
	}
	if a.isMask() {
		mask := make([]bool, len(a.values))
		for i, x := range a.values {
			mask[i] = x == 1
		}
		return npy.New(a.path, shape, mask), nil
	}
	return npy.New(a.path, shape, a.values), nil
}

// isMask reports whether a split is a column of 0 and 1. In a list ids do not repeat.
func (a *textArray) isMask() bool {
	split := slices.Contains([]string{"train", "val", "test"}, a.name[strings.LastIndexByte(a.name, '_')+1:])
	return split && len(a.values) > 2*a.cols && !slices.ContainsFunc(a.values, func(x float64) bool { return x != 0 && x != 1 })
}

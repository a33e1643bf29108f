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
		ours := ourName(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".gz"), ending))
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

// readTextArrays reads the files of textArrays into made. changes has a line for each column of ids that was left
// out.
func readTextArrays(dir string, made map[string]*npy.Array) (changes []string, err error) {
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
		a := textArray{name: name}
		if err := a.read(filepath.Join(dir, files[name])); err != nil {
			return nil, err
		}
		if made[name] != nil {
			return nil, fmt.Errorf("%s: the edge list has %s, and so has %s", dir, name, files[name])
		}
		if made[name], err = a.array(); err != nil {
			return nil, err
		}
		if a.counted {
			changes = append(changes, fmt.Sprintf("the first column of %s, the numbers of its rows, was left out", files[name]))
		}
	}
	return changes, nil
}

// textArray is a text of numbers with one row on each line.
type textArray struct {
	name    string // ours
	path    string
	cols    int
	values  []float64 // NaN for empty fields
	ids     bool      // the heading says that the first column is ids
	counted bool      // the first column is 0, 1, …
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
				a.values, a.ids = nil, first == "" || slices.ContainsFunc(usualID, func(k string) bool { return strings.EqualFold(k, first) })
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

// array removes a first column of ids, and makes the array that an .npy file of that name would hold.
func (a *textArray) array() (*npy.Array, error) {
	rows := len(a.values) / a.cols
	if rows == 0 {
		return nil, fmt.Errorf("%s: no rows", a.path)
	}
	switch {
	case a.cols < 2 || rows < 2:
	case a.counts(0):
		a.counted = true
		for i := range rows {
			copy(a.values[i*(a.cols-1):], a.values[i*a.cols+1:(i+1)*a.cols])
		}
		a.cols--
		a.values = a.values[:rows*a.cols]
	case a.ids || a.counts(1):
		return nil, fmt.Errorf("%s: the first column looks like ids, which must be 0, 1, … in a folder; this reads a table by its ids: saga data convert --edges EDGES.csv --vertices %s --id COLUMN --features COLUMNS --label COLUMN --out graph.saga",
			a.path, a.path)
	}
	shape := []int{rows, a.cols}
	if a.cols == 1 && a.name != "features" && a.name != "edge_data" {
		shape = shape[:1]
	}
	split := slices.Contains([]string{"train", "val", "test"}, a.name[strings.LastIndexByte(a.name, '_')+1:])
	if split && rows > 2 && !slices.ContainsFunc(a.values, func(x float64) bool { return x != 0 && x != 1 }) { // a mask: ids do not repeat
		mask := make([]bool, len(a.values))
		for i, x := range a.values {
			mask[i] = x == 1
		}
		return npy.New(a.path, shape, mask), nil
	}
	return npy.New(a.path, shape, a.values), nil
}

// counts reports whether the first column is from, from + 1, ….
func (a *textArray) counts(from int) bool {
	for i := 0; i*a.cols < len(a.values); i++ {
		if a.values[i*a.cols] != float64(i+from) {
			return false
		}
	}
	return true
}

package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/internal/words"
)

// Preparation says how columns of a table become features.
type Preparation struct {
	Missing     string   // what stands for a missing number: "mean" of the column, "0", or "" for an error
	OneHot      []string // columns of words, as patterns: each becomes a column of 0 and 1 for each word
	Standardize bool     // subtract the mean of each column of numbers, and divide by its standard deviation
	// Like names a store. Its features were prepared by columns of the same names; these are prepared by the numbers and words that it
	// recorded.
	Like string
	// LikeType is the type of vertices whose features are meant, if that store has several.
	LikeType string
	// Unlabelled is a text in the column of labels that means that the vertex has none.
	Unlabelled string
	// Seed is that of the random split that data with labels and without a split get, since everything is taken from training rows.
	Seed uint64
}

// asked reports whether anything is to be prepared.
func (p *Preparation) asked() bool {
	return p.Missing != "" || len(p.OneHot) > 0 || p.Standardize || p.Like != ""
}

// maxCategories bounds the columns that are made of one.
const maxCategories = 4096

// feature is a column of features and the column of the table that it is made of.
type feature struct {
	Column
	at int
}

// missingNumbers are words for a number that is missing, in small letters.
var missingNumbers = []string{"na", "n/a", "null", "none", "?"}

// isMissing reports whether a field has no value. In a column of words (words) only an empty field and nan have none.
func isMissing(f []byte, words bool) bool {
	text := strings.ToLower(string(bytes.TrimSpace(f)))
	return text == "" || text == "nan" || !words && slices.Contains(missingNumbers, text)
}

// value is the feature of a row.
func (x *feature) value(t *tableFile, row [][]byte) (float32, error) {
	f := bytes.TrimSpace(row[x.at])
	is := false
	switch {
	case x.Missing:
		is = isMissing(f, x.Name == wordsMissing(x.Of))
	case x.Category != "":
		is = string(f) == x.Category
	case x.Fill == nil && x.Mean == nil && x.Scale == nil:
		return t.float(row, x.at)
	case isMissing(f, false) && x.Fill != nil:
		return x.scaled(*x.Fill)
	default:
		y, err := parseFloat(f)
		if err != nil {
			return 0, t.errorf("column %s: %w", t.columns[x.at], err)
		}
		return x.scaled(y)
	}
	if is {
		return 1, nil
	}
	return 0, nil
}

func (x *feature) scaled(y float64) (float32, error) {
	if x.Mean != nil {
		y -= *x.Mean
	}
	if x.Scale != nil {
		y /= *x.Scale
	}
	return toFloat32(y)
}

// Names of the columns that are made of one.
func wordColumn(of, word string) string { return of + "=" + word }
func wordsMissing(of string) string     { return of + "=" }
func numbersMissing(of string) string   { return of + " is missing" }

// columnCount is what the training rows have in a column.
type columnCount struct {
	at             int
	words          bool
	n, missing     int
	mean, variance float64 // variance is the sum of squared distances from the mean
	categories     map[string]bool
}

func (c *columnCount) add(t *tableFile, f []byte) error {
	f = bytes.TrimSpace(f)
	if isMissing(f, c.words) {
		c.missing++
		return nil
	}
	if c.words {
		if c.categories[string(f)] = true; len(c.categories) > maxCategories {
			return t.errorf("column %s: more than %d different words; a column for each is too many", t.columns[c.at], maxCategories)
		}
		return nil
	}
	x, err := parseFloat(f)
	if err != nil {
		return t.errorf("column %s: %w", t.columns[c.at], err)
	}
	c.n++
	d := x - c.mean
	c.mean += d / float64(c.n)
	c.variance += d * (x - c.mean)
	return nil
}

// features makes the columns of a column.
func (c *columnCount) features(p *Preparation, name string) (out []feature) {
	if c.words {
		words := make([]string, 0, len(c.categories))
		for w := range c.categories {
			words = append(words, w)
		}
		slices.Sort(words)
		for _, w := range words {
			out = append(out, feature{Column{Name: wordColumn(name, w), Of: name, Category: w}, c.at})
		}
		if c.missing > 0 {
			out = append(out, feature{Column{Name: wordsMissing(name), Of: name, Missing: true}, c.at})
		}
		return out
	}
	x := feature{Column{Name: name}, c.at}
	if p.Missing == "mean" {
		x.Fill = &c.mean
	} else if p.Missing != "" {
		x.Fill = new(float64)
	}
	if p.Standardize {
		scale := math.Sqrt(c.variance / float64(max(1, c.n)))
		if scale == 0 {
			scale = 1
		}
		x.Mean, x.Scale = &c.mean, &scale
	}
	out = append(out, x)
	if p.Missing != "" && c.missing > 0 {
		out = append(out, feature{Column{Name: numbersMissing(name), Of: name, Missing: true}, c.at})
	}
	return out
}

// prepare finds the features that the columns of v make, records them, and tells what rows have that they cannot keep apart.
func (v *vertexTable) prepare(p *Preparation, d *Data) error {
	v.how = *p
	f, err := v.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if p.Like != "" {
		err = v.prepareLike(p, f)
	} else {
		err = v.fit(p, f, d)
	}
	if err != nil {
		return err
	}
	d.FeatureCols = len(v.made)
	d.Schema.Features.Columns = nil
	for _, x := range v.made {
		d.Schema.Features.Columns = append(d.Schema.Features.Columns, x.Column)
	}
	return v.tellUnseen()
}

// fit takes fill values, words, means and deviations from the training rows.
func (v *vertexTable) fit(p *Preparation, f *tableFile, d *Data) error {
	hot, err := f.match(p.OneHot)
	if err != nil {
		return err
	}
	v.hot = hot
	for _, i := range hot {
		if !slices.Contains(v.features, i) {
			v.features = append(v.features, i)
		}
	}
	counts := make([]columnCount, len(v.features))
	for k, i := range v.features {
		counts[k] = columnCount{at: i, words: slices.Contains(hot, i), categories: map[string]bool{}}
	}
	train, row, rows := d.Train, 0, 0
	err = f.eachRow(func(fields [][]byte) error {
		row++
		if d.Train != nil {
			if len(train) == 0 || int(train[0]) != row-1 {
				return nil
			}
			train = train[1:]
		}
		rows++
		for k := range counts {
			if err := counts[k].add(f, fields[counts[k].at]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return v.explain(err)
	}
	missing := 0
	for k := range counts {
		missing += counts[k].missing
		v.made = append(v.made, counts[k].features(p, f.columns[counts[k].at])...)
	}
	what := "training rows"
	if d.Train == nil {
		what = "rows (there is no split)"
	}
	d.Report.Changes = append(d.Report.Changes, words.Text("%d {column|columns} made %d {feature|features} by what %d %s have; %d {value was|values were} missing there", len(counts), len(v.made), rows, what, missing))
	return nil
}

// prepareLike takes the features that a store recorded.
func (v *vertexTable) prepareLike(p *Preparation, f *tableFile) error {
	like := &Data{Name: p.Like}
	if err := readLike(like, p); err != nil {
		return err
	}
	if p.LikeType != "" && like.Schema.Features.Cols == 0 { // of several types some have no features
		f.warnColumns(v.d, slices.Concat([]int{v.id, v.split}, v.labels, v.targets), "vertices of type "+p.LikeType+" of "+p.Like+" have no features")
		return nil
	}
	if len(like.Schema.Features.Columns) == 0 {
		return fmt.Errorf("%s: the features of the store have no names", p.Like)
	}
	for _, c := range like.Schema.Features.Columns {
		i := slices.Index(f.columns, cmp.Or(c.Of, c.Name))
		if i < 0 {
			return fmt.Errorf("%s: no column %q, of which features of %s were made; there are %s", f.name, cmp.Or(c.Of, c.Name), p.Like, f.list())
		}
		v.made = append(v.made, feature{c, i})
	}
	used := slices.Concat([]int{v.id, v.split}, v.labels, v.targets)
	for _, x := range v.made {
		used = append(used, x.at)
	}
	f.warnColumns(v.d, used, "no feature of "+p.Like+" was made of them")
	v.d.Report.Changes = append(v.d.Report.Changes, words.Text("%d {feature was|features were} prepared as those of %s", len(v.made), p.Like))
	return nil
}

// readLike gives d the schema of the store that p names, of one type if it has several.
func readLike(d *Data, p *Preparation) error {
	s, err := chunk.Open(p.Like)
	if !errors.Is(err, chunk.ErrParts) {
		if err != nil {
			return err
		}
		defer s.Close()
		return d.readSchema(s)
	}
	parts, err := chunk.OpenParts(p.Like)
	if err != nil {
		return err
	}
	defer parts.Close()
	text, err := parts.Schema()
	if err != nil {
		return err
	}
	whole, err := ParseSchema(text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Like, err)
	}
	for _, t := range whole.Types {
		if t.Name == p.LikeType {
			d.Schema = t.Rows.named()
			d.Schema.Features.Cols = t.Rows.Features.Cols
			return nil
		}
	}
	return fmt.Errorf("%s: the store has no vertex type %.40q", p.Like, p.LikeType)
}

package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// vertexTable is the table of vertices, which is read a second time for the features.
type vertexTable struct {
	open            func() (*tableFile, error)
	id, split, time int // columns; -1: none
	labels, targets []int
	features        []int     // columns of the table
	made            []feature // what they become
	hot             []int     // of features: those of words
	how             Preparation
	d               *Data
}

// openVertices reads everything of the vertices but their features.
func (t Tables) openVertices(d *Data, ids *idTable) (*vertexTable, error) {
	known := slices.Concat([]string{t.ID, t.Split, t.Time}, t.Label, t.Targets, usualID, usualLabel)
	v := &vertexTable{d: d}
	v.open = func() (*tableFile, error) {
		return openTable(t.Vertices, tableOptions{heading: t.Heading, known: known})
	}
	f, err := v.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := v.choose(f, t); err != nil {
		return nil, err
	}
	ids.column = f.columns[v.id]
	d.FeatureCols, d.Targets.Cols = len(v.features), len(v.targets)
	d.Schema.Vertex.Targets = f.names(v.targets)
	d.Schema.Features.NameColumns(f.names(v.features))
	for _, i := range v.features {
		if !t.Prepare.asked() {
			v.made = append(v.made, feature{Column{Name: f.columns[i]}, i})
		}
	}
	c := &classText{none: t.Prepare.Unlabelled}
	if err := f.eachRow(func(row [][]byte) error { return v.add(f, row, ids, c) }); err != nil {
		return nil, err
	}
	if ids.len() == 0 {
		return nil, fmt.Errorf("%s: no vertices", f.name)
	}
	if t.Prepare.Unlabelled != "" && !c.nones {
		return nil, fmt.Errorf("%s: no label is %q (--unlabelled)", f.name, t.Prepare.Unlabelled)
	}
	ids.seal()
	d.Edges.V = ids.len()
	if len(v.labels) == 1 && len(c.texts) == 0 && len(t.Label) == 0 && (t.Prepare.LikeType != "" || t.Prepare.Like != "") {
		// Other types may have labels, and data for a run that is applied need none.
		d.warn("%s: column %s: no vertex has a label", f.name, f.columns[v.labels[0]])
		v.labels = nil
	}
	if len(v.labels) != 1 {
		d.Classes, d.Schema.Vertex.Classes = len(v.labels), f.names(v.labels)
		d.sayUnknown(VertexLabels)
	} else if numbers := c.numbers(); numbers != nil && len(v.targets) == 0 {
		d.Targets.Vertex, d.Targets.Cols, d.Schema.Vertex.Targets = numbers, 1, f.names(v.labels)
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("column %s has numbers that are no classes: they are numbers to predict", f.columns[v.labels[0]]))
	} else if d.Labels, err = c.classes(d); err != nil {
		return nil, fmt.Errorf("%s: column %s: %w", f.name, f.columns[v.labels[0]], err)
	}
	return v, nil
}

// choose finds the columns.
func (v *vertexTable) choose(f *tableFile, t Tables) (err error) {
	if v.id, err = f.findID(t.ID); err != nil {
		return err
	}
	guessed := f.headed && t.ID == "" && !namesID(f.columns[v.id])
	if v.split, err = f.find(t.Split, usualSplit...); err != nil {
		return err
	}
	if v.time, err = f.find(t.Time); err != nil {
		return err
	}
	if v.targets, err = f.match(t.Targets); err != nil {
		return err
	}
	if len(t.Label) > 0 {
		v.labels, err = f.match(t.Label)
	} else if one, _ := f.find("", usualLabel...); one >= 0 && one != v.id && !slices.Contains(v.targets, one) {
		v.labels = []int{one}
	}
	if err != nil {
		return err
	}
	if v.features, err = f.match(t.Features); err != nil {
		return err
	}
	// A pattern such as * does not match columns that have another use.
	others := slices.Concat([]int{v.id, v.split, v.time}, v.labels, v.targets)
	v.features = slices.DeleteFunc(v.features, func(i int) bool { return slices.Contains(others, i) })
	if guessed {
		name := f.columns[v.id]
		if isUsual(name, usualLabel) || slices.Contains(slices.Concat(t.Label, t.Targets, t.Features, t.Prepare.OneHot), name) {
			return fmt.Errorf("%s:1: no column has the ids of vertices by its name; the first, %s, is asked for as something else: --id COL names the column of ids, which each vertex needs", f.name, name)
		}
		v.d.Report.Changes = append(v.d.Report.Changes, fmt.Sprintf("the first column, %s, is taken as the ids of vertices (--id names another)", name))
	}
	hint := "--features chooses some"
	if len(v.labels)+len(v.targets) == 0 {
		hint += ", --label one with classes, --targets numbers to predict"
	}
	words, err := f.match(t.Prepare.OneHot)
	if err != nil {
		return err
	}
	if t.Prepare.Like == "" { // prepareLike finds out which columns it reads
		f.warnColumns(v.d, slices.Concat(others, v.features, words), hint)
	}
	return nil
}

// add reads everything of a row but its features.
func (v *vertexTable) add(f *tableFile, row [][]byte, ids *idTable, c *classText) error {
	_, isNew, err := ids.add(row[v.id])
	if err != nil {
		return f.errorf("column %s has the ids of vertices (--id names another): %w", f.columns[v.id], err)
	}
	if !isNew {
		return f.errorf("vertex %.40q stands twice", row[v.id])
	}
	if v.split >= 0 {
		if err := v.d.addSplit(string(bytes.TrimSpace(row[v.split])), ids.len()-1); err != nil {
			return f.errorf("%w", err)
		}
	}
	if v.time >= 0 {
		x, err := f.time(row, v.time)
		if err != nil {
			return fmt.Errorf("%w; every vertex has a time", err)
		}
		v.d.Vertices.Time = append(v.d.Vertices.Time, x)
	}
	if err := f.targets(v.d, row, v.targets); err != nil {
		return err
	}
	if len(v.labels) == 1 {
		if err := c.add(bytes.TrimSpace(row[v.labels[0]])); err != nil {
			return f.errorf("column %s: %w", f.columns[v.labels[0]], err)
		}
		return nil
	}
	for _, i := range v.labels {
		y, err := c.flag(bytes.TrimSpace(row[i]))
		if err != nil {
			return f.errorf("column %s: %w", f.columns[i], err)
		}
		v.d.MultiLabels = append(v.d.MultiLabels, y)
	}
	return nil
}

func (d *Data) addSplit(name string, v int) error {
	switch strings.ToLower(name) {
	case "train", "training":
		d.Train = append(d.Train, uint32(v))
	case "val", "valid", "validation", "dev":
		d.Val = append(d.Val, uint32(v))
	case "test":
		d.Test = append(d.Test, uint32(v))
	case "", "none":
	default:
		return fmt.Errorf("split %.40q: train, val, test or nothing", name)
	}
	return nil
}

// eachRows reads the features.
func (v *vertexTable) eachRows(fn func([]float32) error) error {
	f, err := v.open()
	if err != nil {
		return err
	}
	defer f.Close()
	part := max(1, pieceValues/len(v.made)) * len(v.made)
	rows := make([]float32, 0, min(part, pieceValues))
	err = f.eachRow(func(row [][]byte) error {
		for k := range v.made {
			x, err := v.made[k].value(f, row)
			if err != nil {
				return v.explain(err)
			}
			rows = append(rows, x)
		}
		if len(rows) < part {
			return nil
		}
		err := fn(rows)
		rows = rows[:0]
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return fn(rows)
}

// targets adds the targets of a row: numbers or, if all columns are empty, NaN.
func (t *tableFile) targets(d *Data, row [][]byte, columns []int) error {
	for k, i := range columns {
		x, none := float32(math.NaN()), len(bytes.TrimSpace(row[i])) == 0
		if k > 0 && none != !d.Targets.Of(VertexLabels).Has(len(d.Targets.Vertex)/len(columns)) {
			return t.errorf("column %s: targets are numbers, or all of them are empty", t.columns[i])
		}
		if !none {
			var err error
			if x, err = t.float(row, i); err != nil {
				return err
			}
		}
		d.Targets.Vertex = append(d.Targets.Vertex, x)
	}
	return nil
}

// unseen is what the rows of a table have in a column that its features do not tell from something else.
type unseen struct {
	known    map[string]bool // words with a feature; nil: a column of numbers
	fills    bool            // gaps are filled
	gaps     bool            // and a feature tells where
	n, empty int             // rows with another word or a filled gap; of the words, those with none
	first    string          // of the words
}

// tellUnseen reports words for which no feature stands, and gaps that are filled although no feature tells where they are: training rows had none.
func (v *vertexTable) tellUnseen() error {
	columns, order := map[int]*unseen{}, []int{}
	for _, x := range v.made {
		u := columns[x.at]
		if u == nil {
			u = &unseen{}
			columns[x.at], order = u, append(order, x.at)
		}
		switch {
		case x.Missing:
			u.gaps = true
		case x.Category != "":
			if u.known == nil {
				u.known = map[string]bool{}
			}
			u.known[x.Category] = true
		default:
			u.fills = x.Fill != nil
		}
	}
	order = slices.DeleteFunc(order, func(i int) bool { u := columns[i]; return u.known == nil && (u.gaps || !u.fills) })
	if len(order) == 0 {
		return nil
	}
	f, err := v.open()
	if err != nil {
		return err
	}
	defer f.Close()
	rows := 0
	err = f.eachRow(func(row [][]byte) error {
		rows++
		for _, i := range order {
			u, field := columns[i], bytes.TrimSpace(row[i])
			switch missing := isMissing(field, u.known != nil); {
			case missing && u.gaps || u.known == nil && !missing || u.known[string(field)]:
			case missing:
				u.n++
				u.empty++
			default:
				if u.n++; u.first == "" {
					u.first = fmt.Sprintf("%.40q", field)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range order {
		switch u := columns[i]; {
		case u.n == 0:
		case u.known == nil:
			v.d.warn("%s: column %s: of %d rows %d {has|have} no number, which the training rows all had: {it is|they are} filled, and no feature tells where", f.name, f.columns[i], rows, u.n)
		case u.n == u.empty:
			v.d.warn("%s: column %s: of %d rows %d {has|have} no word, which the training rows all had: {its|their} features are 0", f.name, f.columns[i], rows, u.n)
		default:
			v.d.warn("%s: column %s: of %d rows %d {has a word that no training row has|have words that no training row has}, such as %s: {its|their} features are 0", f.name, f.columns[i], rows, u.n, u.first)
		}
	}
	return nil
}

// isInfinite reports whether a field is a number that is infinite, or that float32 has no room for.
func isInfinite(f []byte) bool {
	x, err := strconv.ParseFloat(string(bytes.Trim(bytes.TrimSpace(f), `"'`)), 32)
	return (err == nil || errors.Is(err, strconv.ErrRange)) && math.IsInf(x, 0)
}

// explain adds to the error of a field how many such fields there are, and what reads them.
func (v *vertexTable) explain(err error) error {
	f, no := v.open()
	if no != nil {
		return err
	}
	defer f.Close()
	numbers := slices.Clone(v.features)
	for _, x := range v.made {
		if v.how.Like != "" && x.Category == "" && !x.Missing {
			numbers = append(numbers, x.at)
		}
	}
	numbers = slices.DeleteFunc(numbers, func(i int) bool { return slices.Contains(v.hot, i) })
	missing, texts, otherwise, infinite := make([]int, len(f.columns)), make([]int, len(f.columns)), make([]int, len(f.columns)), make([]int, len(f.columns))
	no = f.eachRow(func(row [][]byte) error {
		for _, i := range numbers {
			if isMissing(row[i], false) {
				missing[i]++
			} else if isInfinite(row[i]) {
				infinite[i]++
			} else if !isNumber(row[i]) {
				texts[i]++
				if field := bytes.TrimSpace(row[i]); bytes.ContainsAny(field[:1], "0123456789+-.$€") {
					otherwise[i]++
				}
			}
		}
		return nil
	})
	if no != nil {
		return err
	}
	var gaps, dates, wordy, columns, infinities []string
	for _, i := range numbers {
		if infinite[i] > 0 {
			infinities = append(infinities, fmt.Sprintf("%s (%d)", f.columns[i], infinite[i]))
		}
		switch {
		case texts[i] == 0 && missing[i] > 0:
			gaps = append(gaps, fmt.Sprintf("%s (%d)", f.columns[i], missing[i]))
		case texts[i] > 0 && texts[i] == otherwise[i]:
			dates = append(dates, fmt.Sprintf("%s (%d)", f.columns[i], texts[i]))
		case texts[i] > 0:
			wordy = append(wordy, fmt.Sprintf("%s (%d)", f.columns[i], texts[i]))
			columns = append(columns, f.columns[i])
		}
	}
	text := ""
	if len(infinities) > 0 {
		text += fmt.Sprintf("; numbers that are infinite, or too large, are in %s: a feature is finite, so write another number, or an empty field", listColumns(infinities))
		if v.how.Missing == "" && v.how.Like == "" {
			text += " with --missing mean or --missing 0"
		}
	}
	switch {
	case len(gaps) == 0 || v.how.Missing != "":
	case v.how.Like != "":
		text += fmt.Sprintf("; numbers are missing in %s, and %s was made without --missing, which says what stands for them", listColumns(gaps), v.how.Like)
	default:
		text += fmt.Sprintf("; numbers are missing in %s: --missing mean or --missing 0 fills them, with a column that tells where", listColumns(gaps))
	}
	switch {
	case len(wordy) == 0:
	case v.how.Like != "":
		text += fmt.Sprintf("; there are words in %s, which %s has as numbers", listColumns(wordy), v.how.Like)
	default:
		text += fmt.Sprintf("; there are words in %s: --one-hot %s makes a column of each word", listColumns(wordy), strings.ReplaceAll(listColumns(columns), ", ", ","))
	}
	if len(dates) > 0 {
		text += fmt.Sprintf("; numbers or dates of another form are in %s: 1100 and 0.5 are read, not 1,100 or 0,5 or 50%%, and dates as numbers of days (docs/data.md has lines of pandas)", listColumns(dates))
	}
	if text == "" {
		return err
	}
	return errors.New(err.Error() + text)
}

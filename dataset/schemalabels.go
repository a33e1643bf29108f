package dataset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// FitLabels returns data like d whose labels and targets of kind k mean what s, the schema of a run, says: classes have
// the run's numbers, columns the run's order. What has a class that the run does not know loses its label
// and its place in the splits; left counts them by class. Notes are as for Fit. FitLabels returns an error that names
// both sides if something cannot be mapped. d is unchanged.
func (s *Schema) FitLabels(d *Data, k LabelKind, by Sides) (fitted *Data, left map[string]int, notes []string, err error) {
	x := *d
	run, data := s.Of(k), d.Record().Of(k)
	if run.Form != "" && data.Form != "" && run.Form != data.Form {
		return nil, nil, nil, fmt.Errorf("%s has %s, and %s was trained on %s", by.Data, data.Form.text(k), by.Run, run.Form.text(k))
	}
	if run.Form == OneClass && data.Form == OneClass {
		left, notes, err = s.fitClasses(&x, k, data, by)
	} else if run.Form == SeveralClasses && data.Form == SeveralClasses {
		notes, err = s.fitSets(&x, k, by)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	more, err := s.fitTargets(&x, k, by)
	return &x, left, append(notes, more...), err
}

// text is the form in words.
func (f LabelForm) text(k LabelKind) string {
	if f == SeveralClasses {
		return "several classes for one " + string(k)
	}
	return "one class for each " + string(k)
}

// fitClasses numbers the classes of kind k as the run does.
func (s *Schema) fitClasses(d *Data, k LabelKind, data *Labels, by Sides) (left map[string]int, notes []string, err error) {
	run := s.Of(k)
	mine, theirs := names{run.Classes, run.Count, s.Older}, names{data.Classes, data.Count, d.Schema.Older}
	const what = "classes"
	a, err := align(mine, theirs, what, by)
	if err != nil {
		return nil, nil, err
	}
	notes = a.note(mine, theirs, what, by)
	labels := slices.Clone(d.classesOf(k))
	left = map[string]int{}
	n, known := 0, 0
	for i, c := range labels {
		if c < 0 {
			continue
		}
		if labels[i] = a.to[c]; labels[i] < 0 {
			left[theirs.of(int(c))]++
			n++
		} else {
			known++
		}
	}
	if n > 0 && known == 0 {
		return nil, nil, differ(mine, theirs, what, "they have none in common", by)
	}
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %d labelled %s are of classes that the run does not know (%s) and are left out of the scores", by.Data, n, n+known, k.Plural(), some(slices.Sorted(maps.Keys(left)))))
	}
	d.Schema.Of(k).Classes = run.Classes
	switch k {
	case EdgeLabels:
		d.EdgeLabels = labels
	case GraphLabels:
		d.GraphLabels = labels
	default:
		d.Labels, d.Classes = labels, run.Count
	}
	if n > 0 {
		d.leaveSplits(k, labels)
	}
	return left, notes, nil
}

// fitSets puts the classes of labels of kind k, of which each can have several, into the run's order.
func (s *Schema) fitSets(d *Data, k LabelKind, by Sides) ([]string, error) {
	run, own, n := s.Of(k), d.Schema.Of(k), d.Sets(k)
	mine, theirs := names{run.Classes, run.Count, s.Older}, names{own.Classes, n.Cols, d.Schema.Older}
	const what = "classes"
	a, err := align(mine, theirs, what, by)
	if err != nil {
		return nil, err
	}
	if len(a.missing) > 0 || mine.list == nil && theirs.list == nil && mine.n != theirs.n {
		return nil, differ(mine, theirs, what, "rows of 0 and 1 must have all of the run's", by)
	}
	notes := a.note(mine, theirs, what, by)
	if len(a.unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the run does not know the classes %s, which are left out of the scores", by.Data, some(a.unknown)))
	}
	own.Classes = run.Classes
	if a.same() {
		return notes, nil
	}
	n = Numbers{pickColumns(n.Rows, theirs.n, a.from), mine.n}
	d.setSets(k, n)
	if labels := n.unlabelled(); labels != nil {
		d.leaveSplits(k, labels)
	}
	return notes, nil
}

// leaveSplits takes what has no label, which is a label below 0, out of the splits of kind k.
func (d *Data) leaveSplits(k LabelKind, labels []int32) {
	for _, ids := range d.parts(k) {
		kept := slices.DeleteFunc(slices.Clone(*ids), func(i uint32) bool { return labels[i] < 0 })
		if *ids = kept; len(kept) == 0 {
			*ids = nil
		}
	}
}

// fitTargets puts the targets of kind k into the run's order.
func (s *Schema) fitTargets(d *Data, k LabelKind, by Sides) ([]string, error) {
	t, run := d.Targets.Of(k), s.Of(k)
	if t.Rows == nil || run.Cols == 0 {
		return nil, nil
	}
	mine, theirs := names{run.Targets, run.Cols, s.Older}, names{d.Schema.Of(k).Targets, t.Cols, d.Schema.Older}
	const what = "columns of targets"
	if mine.list == nil && theirs.list == nil {
		return nil, nil // the number of columns is compared elsewhere
	}
	a, err := align(mine, theirs, what, by)
	if err != nil {
		return nil, err
	}
	if len(a.missing) > 0 {
		return nil, differ(mine, theirs, what, "the data lacks "+some(a.missing), by)
	}
	notes := a.note(mine, theirs, what, by)
	if len(a.unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the run does not predict the targets %s, which are left out of the scores", by.Data, some(a.unknown)))
	}
	if a.same() {
		return notes, nil
	}
	rows := pickColumns(t.Rows, t.Cols, a.from)
	d.Schema.Of(k).Targets = run.Targets
	switch k {
	case EdgeLabels:
		d.Targets.Edge = Numbers{rows, mine.n}
	case GraphLabels:
		d.Targets.Graph = Numbers{rows, mine.n}
	case VertexLabels:
		d.Targets.Vertex, d.Targets.Cols = rows, mine.n
	default:
		return nil, errors.New("links have no targets")
	}
	return notes, nil
}

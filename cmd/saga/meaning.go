package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/saga"
)

// This file applies a run to other data by names: of columns, relations, classes and vertices.

// by names the two sides, for errors and notes.
func (t *trained) by() dataset.Sides { return dataset.Sides{Run: t.path, Data: t.name} }

// fit brings the data into the form that the model was trained on.
func (t *trained) fit(a *app) error {
	s := t.about.Schema
	if s == nil {
		if !sameFile(t.name, t.prep.Data) {
			a.Log.Warn(fmt.Sprintf("%s is of a version that kept no names of classes, relations, columns and vertices: numbers of %s are taken as those of training", t.path, t.name))
		}
		if err := t.added(a); err != nil {
			return err
		}
		if err := t.prep.apply(t.data, a.Log, "as in training"); err != nil {
			return err
		}
		return t.prep.fits(t.data, t.name, t.path)
	}
	if t.prep.Features == "degree" { // the columns are those that are made of degrees
		if err := t.added(a); err != nil {
			return err
		}
		dataset.DegreeFeatures(t.data)
	}
	fit := s.Fit
	if s.Types != nil || t.data.Vertices.Kinds != nil {
		fit = s.FitTarget
	}
	d, notes, err := fit(t.data, t.by())
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.Log.Warn(n)
	}
	t.data = d
	if t.prep.Features != "degree" {
		if err := t.added(a); err != nil {
			return err
		}
		d = t.data
	}
	if err := t.prep.apply(d, a.Log, "as in training"); err != nil {
		return err
	}
	switch {
	case t.prep.Features == "identity": // a row of the first weights for each vertex, found by its id
		t.prep.Layers.Features = d.Edges.V
	case t.prep.OneHot:
		return nil
	}
	return t.prep.fits(d, t.name, t.path)
}

// fitLabels gives labels and targets the numbers of training, where the run knows their names.
func (e *evaluation) fitLabels(a *app) error {
	s := e.about.Schema
	if s == nil {
		return nil
	}
	d, left, notes, err := s.FitLabels(e.data, e.task(), e.by())
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.Log.Warn(n)
	}
	e.data, e.left = d, left
	return nil
}

// leftOut is how many rows are of each class that the run does not know, as text.
func (e *evaluation) leftOut() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(e.left)) {
		list = append(list, fmt.Sprintf("%d of class %s", e.left[name], name))
	}
	return strings.Join(list, ", ")
}

// sameData refuses to go on with a run on other splits, or on data whose numbers mean something else. Other numbers are
// refused by the checkpoint.
func (c *trainCmd) sameData(j *job) error {
	if c.taken.then == nil {
		return nil
	}
	const way = "a run goes on with the data that it began with; saga train --config %s begins a new one"
	then, now := c.taken.then.Prepared.Splits, j.prep.Splits
	if then != nil && now != nil && then.Labels == now.Labels && then.Parts != now.Parts {
		var parts []string
		for i, name := range []string{"training", "validation", "test"} {
			if then.Parts[i] != now.Parts[i] {
				parts = append(parts, name)
			}
		}
		return fmt.Errorf("%s has another %s split than when the run in %s began: "+way, j.data.Name, listed(parts), c.Resume, c.Resume)
	}
	if s := c.taken.then.Schema; s != nil {
		if text := s.Differ(saga.Record(j.prog)); text != "" {
			return fmt.Errorf("%s: %s: "+way, j.data.Name, text, c.Resume)
		}
	}
	return nil
}

// multi tells whether the model predicts rows of 0 and 1, by the run. Runs of versions without a schema are judged by the
// data, as those versions did.
func (t *trained) multi() bool {
	if s := t.about.Schema; s != nil {
		return t.task() != saga.LinkTask && s.Of(t.task()).Form == dataset.SeveralClasses && !numbers(t.prep.Layers.Loss.Kind)
	}
	return t.task() == saga.VertexTask && t.data.MultiLabels != nil
}

// names are those of the classes or, if numbers are predicted, of the targets; nil if they have none.
func (t *trained) names() []string {
	s := t.about.Schema
	switch {
	case s != nil && numbers(t.prep.Layers.Loss.Kind):
		return s.Of(t.task()).Targets
	case s != nil:
		return s.Of(t.task()).Classes
	}
	return t.prep.ClassNames
}

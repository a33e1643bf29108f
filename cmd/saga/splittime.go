package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// byTime is what --split-time says: two times, or two shares of the earliest.
type byTime struct {
	dataset.TimeCut
	train, val float64 // above 0: shares, in place of times
	past       bool    // of links: each sees the edges before its time
}

// linksByTime is the --split-time of links that are drawn by time, if none is given.
const linksByTime = "80%,10%"

// parseSplitTime reads the value of --split-time.
func parseSplitTime(text string) (b byTime, err error) {
	first, second, two := strings.Cut(text, ",")
	first, second = strings.TrimSpace(first), strings.TrimSpace(second)
	share, other := strings.HasSuffix(first, "%"), strings.HasSuffix(second, "%")
	wrong := fmt.Errorf("--split-time %s: want the times from which on validation and testing are, such as 2026-01-01,2026-02-01, or two shares of the earliest for training and validation, such as 80%%,10%%", text)
	if !two || share != other {
		return b, wrong
	}
	if share {
		list, ok := sharesIn(text, "%")
		if ok {
			b.train, b.val, ok = divided(list)
		}
		if !ok {
			return b, wrong
		}
		return b, nil
	}
	if b.Val, err = dataset.ParseTime(first); err == nil {
		b.Test, err = dataset.ParseTime(second)
	}
	switch {
	case err != nil:
		return b, fmt.Errorf("%w: %w", wrong, err)
	case b.Val > b.Test:
		return b, fmt.Errorf("--split-time %s: the first time is later than the second", text)
	}
	return b, nil
}

// checkSplitTime is an error if the flags about splits do not go together.
func (s *settings) checkSplitTime() error {
	if s.Data.SplitTime == "" {
		return nil
	}
	_, err := parseSplitTime(s.Data.SplitTime)
	switch {
	case err != nil:
		return err
	case s.Data.Split != "":
		return fmt.Errorf("--split %s and --split-time %s: one of them", s.Data.Split, s.Data.SplitTime)
	case s.Link.Disjoint != 0:
		return fmt.Errorf("--disjoint %g and --split-time %s: what --disjoint divides is drawn at random", s.Link.Disjoint, s.Data.SplitTime)
	}
	return nil
}

// splitOf is how d is divided: what --split or --split-time say, as a run records it.
func (s *settings) splitOf(d *dataset.Data, task saga.Task) (string, error) {
	past := task == saga.LinkTask && !s.Training.Sampling.whole() && named(s.Training.Sampling.SampleTime, "none") != ""
	switch {
	case !past && s.Data.SplitTime == "":
		return s.Data.Split, nil
	case !past:
		return timePrefix + s.Data.SplitTime, nil
	case s.Data.Split != "":
		return "", cli.Usagef("--split %s: with --sample-time links are divided by time (--split-time), as a pair sees the edges before it", s.Data.Split)
	case s.Link.Disjoint != 0:
		return "", cli.Usagef("--disjoint %g: with --sample-time no pair sees its own edge", s.Link.Disjoint)
	}
	return pastPrefix + cmp.Or(s.Data.SplitTime, linksByTime), nil
}

// What a run records of a split by time begins so: links that are seen at their times, and other splits.
const (
	timePrefix = "time:"
	pastPrefix = "past:"
)

// recordedByTime reads what String writes; nil if text is something else.
func recordedByTime(text string) (*byTime, error) {
	times, is := strings.CutPrefix(text, timePrefix)
	past := false
	if !is {
		if times, past = strings.CutPrefix(text, pastPrefix); !past {
			return nil, nil // no split by time
		}
	}
	b, err := parseSplitTime(times)
	b.past = past
	return &b, err
}

// String is what a run records: times, by which other data are divided, too.
func (b *byTime) String() string {
	prefix := timePrefix
	if b.past {
		prefix = pastPrefix
	}
	return prefix + dataset.TimeText(b.Val) + "," + dataset.TimeText(b.Test)
}

// divide makes the splits of d. Shares become times.
func (b *byTime) divide(d *dataset.Data, task saga.Task, seed uint64) (*dataset.Data, error) {
	if b.train > 0 {
		times, err := dataset.TimesOf(d, task)
		if err != nil {
			return nil, err
		}
		if b.TimeCut, err = dataset.CutByShares(times, b.train, b.val); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	switch {
	case task == saga.LinkTask && b.past:
		return dataset.LinksOfPast(d, b.TimeCut, seed)
	case task == saga.LinkTask:
		return dataset.SplitLinksByTime(d, b.TimeCut, seed)
	}
	return d, dataset.SplitByTime(d, task, b.TimeCut)
}

// tell says how d was divided.
func (b *byTime) tell(log *slog.Logger, d *dataset.Data, task saga.Task) {
	var n [3]int
	for i, ids := range d.Splits(task) {
		n[i] = len(ids)
	}
	what := task.Plural()
	if l := d.Targets.Links; task == saga.LinkTask {
		what, n = "links", [3]int{l.Train.Len(), l.Val.Len(), l.Test.Len()}
	}
	log.Info(what+" are divided by time", "training", n[0], "validation", n[1], "from", timeWords(b.Val), "test", n[2], "from", timeWords(b.Test))
	if b.past {
		log.Info("a pair sees the edges before its time alone; a pair without an edge has the time of the pair that it is drawn for")
	}
}

// tellNoPast says which edges have no times, and where no vertex sees an edge, as all are asked for before the first.
func tellNoPast(log *slog.Logger, d *dataset.Data, x *saga.Sampling) {
	e, v := d.Edges.Time, d.Vertices.Time
	if x.Times == "" {
		return
	}
	if k := d.Vertices.Kinds; k != nil {
		for _, r := range k.Graph.Relations {
			e = slices.Concat(e, r.Links.Edges.Time)
		}
		if len(e) > 0 {
			tellUntimed(log, k)
		}
	}
	if len(e) == 0 || len(v) == 0 || d.Targets.Links != nil || slices.Max(v) >= slices.Min(e) {
		return
	}
	log.Warn("no vertex sees an edge: the times of vertices are " + span(v) + ", before those of edges, " + span(e) + "; have they one unit?")
}

// tellUntimed says which relations have no times.
func tellUntimed(log *slog.Logger, k *dataset.Kinds) {
	ends := []int{k.Type}
	if k.PairV > 0 { // of links
		ends = append(ends, k.Graph.Relations[k.Relation].Target)
	}
	none, shown := k.Graph.Untimed(ends...)
	if none != nil {
		log.Info("edges of " + listed(none) + " have no times: they are seen at any time")
	}
	for _, pair := range shown {
		log.Warn("edges of " + pair[0] + " have no times, and are those of " + pair[1] + ", which have some, turned round: they show a vertex its future; give them times, or draw none of them (--sample)")
	}
}

// span says from when to when times are.
func span(times []float64) string {
	if len(times) == 0 {
		return "none"
	}
	return timeWords(slices.Min(times)) + " to " + timeWords(slices.Max(times))
}

// timeWords is a time, and which moment it is if it is likely one.
func timeWords(t float64) string {
	if day := dataset.DayText(t); day != "" {
		return dataset.TimeText(t) + " (" + day + ")"
	}
	return dataset.TimeText(t)
}

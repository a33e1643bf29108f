package saga

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/device"
)

// Numbers that are not finite: NaN and ±Inf. The optimiser checks every number that it writes, so
// that no extra pass over them is needed. On the host update returns the result. On a GPU the
// optimiser's kernels write a note to device memory, which is read when training waits anyway: at an
// evaluation. All values of a checkpoint are checked before it is written.

// spoiled is the first update that wrote a number that is not finite.
type spoiled struct {
	epoch int
	param string
}

// spoil records it. Several devices run the same update concurrently; the first call counts.
func (s *session) spoil(epoch int, param string) {
	s.spoiled.CompareAndSwap(nil, &spoiled{epoch, param})
}

// NotFiniteError ends a training in which a number has become NaN or infinite.
type NotFiniteError struct {
	Epoch int    // the epoch in which it became so
	What  string // which number, and what it is
}

// Error says which number is not finite, since which epoch, and what to try.
func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("epoch %d: %s; a lower learning rate, gradient clipping or features of a smaller scale may help", e.Epoch, e.What)
}

// notFinite tells whether x is NaN, Inf or -Inf.
func notFinite(x float32) bool { return x-x != 0 }

// firstSpoiled is the first update of the session that wrote a number that is not finite; nil: none.
// Only with deep it reads the notes of GPUs.
func (s *session) firstSpoiled(deep bool) (*spoiled, error) {
	if x := s.spoiled.Load(); x != nil || !deep {
		return x, nil
	}
	number, epoch, err := s.train.Note()
	spec := s.p.train.low.Spec
	if err != nil || number == 0 || int(number) > len(spec.Updates) {
		return nil, err
	}
	return &spoiled{int(epoch), spec.Globals[spec.Updates[number-1].Param].Name}, nil
}

// epochFinite is an error if the loss of the epoch that has just ended, or a number that an update
// wrote, is not finite. deep is as in firstSpoiled.
func (s *session) epochFinite(loss float64, deep bool) error {
	bad := !finite(loss)
	x, err := s.firstSpoiled(deep || bad)
	switch {
	case err != nil:
		return err
	case bad && (x == nil || x.epoch >= s.p.epoch): // the loss comes before the update
		return &NotFiniteError{s.p.epoch, fmt.Sprintf("the training loss is %v", loss)}
	case x == nil:
		return nil
	}
	names, err := s.spoiledBy(x.param)
	if err != nil {
		return err
	}
	return &NotFiniteError{x.epoch, "after the update " + names}
}

// spoiledBy says which of a parameter and its moments are not finite.
func (s *session) spoiledBy(param string) (string, error) {
	var bad []string
	for _, name := range s.p.stateOf(param) {
		x, err := s.global(name)
		if err != nil {
			return "", err
		}
		if text := describeNotFinite(name, x); text != "" {
			bad = append(bad, text)
		}
	}
	if bad == nil { // it has become finite again in a later epoch
		return fmt.Sprintf("%s was not finite", param), nil
	}
	return strings.Join(bad, ", "), nil
}

// describeNotFinite says how many numbers of a tensor are not finite; "": all are finite.
func describeNotFinite(name string, x []float32) string {
	n := 0
	for _, v := range x {
		if notFinite(v) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	first := slices.IndexFunc(x, notFinite)
	return fmt.Sprintf("%s has %d of %d numbers that are not finite (number %d is %v)", name, n, len(x), first, x[first])
}

// allFinite checks all parameters and moments before training begins, and forgets earlier findings.
func (s *session) allFinite() error {
	for _, q := range s.p.params {
		for _, name := range s.p.stateOf(q.Name) {
			if s.p.isLearned(s.p.train, name) {
				if ok, err := s.learnedFinite(s.p.train, name); err != nil || ok {
					if err != nil {
						return err
					}
					continue
				}
			}
			x, err := s.global(name)
			if err != nil {
				return err
			}
			if text := describeNotFinite(name, x); text != "" {
				return fmt.Errorf("saga: before epoch %d %s; SetParam or Restore may put it right", s.p.epoch+1, text)
			}
		}
	}
	s.spoiled.Store(nil)
	return s.train.ClearNote()
}

// finite tells whether every number is.
func finite(x ...float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// learnedFinite tells whether all numbers of a learned input are finite.
func (s *session) learnedFinite(u *unit, name string) (ok bool, err error) {
	ok = true
	err = s.train.EachRows(u.low.Inputs[dataflow.Whole(name)], func(_ int, rows []byte) error {
		ok = ok && !slices.ContainsFunc(device.View[float32](rows), notFinite)
		device.Drop(rows)
		return nil
	})
	return ok, err
}

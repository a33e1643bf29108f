package mine

import (
	"errors"
	"unsafe"

	"sagann/mine/run"
)

// workers is the place of the work, with the bytes that are left there for patterns; 0: no bound.
func (f *frequent) workers(fixed, each int64) (p place, room int64, err error) {
	f.least = fixed + each
	if p, err = f.g.workers(fixed, each, finding); err != nil {
		return p, 0, beforePatterns(err)
	}
	if f.single {
		p.workers, p.bytes = 1, fixed+each
	}
	f.taken = p.bytes
	if f.g.opt.Mem > 0 && f.g.gpus == nil {
		room = max(f.g.opt.Mem-p.bytes, 1)
	}
	return p, room, nil
}

// beforePatterns is the error of a budget that is too small for what stands beside patterns.
func beforePatterns(err error) error {
	var budget *BudgetError
	if errors.As(err, &budget) {
		budget.AtLeast = true
	}
	return err
}

// beforeLarger is the error of a size of patterns that are not the largest.
func beforeLarger(err error) error {
	var small *run.RoomError
	if errors.As(err, &small) {
		small.More = true
	}
	return err
}

// holds is the most bytes of a pattern in the result: in a list that grows, and while it is put in order by its text.
func holds(p Pattern) int64 {
	edge := 4 // "0-1 "
	if p.EdgeLabelled() {
		edge = len("0-[2147483647]-1 ")
	}
	text := len("0:2147483647 ")*p.Vertices() + edge*p.Edges()
	return int64(unsafe.Sizeof(FrequentPattern{}))*9/4 + int64(unsafe.Sizeof(rank{})+unsafe.Sizeof(FrequentPattern{})) + int64(text)
}

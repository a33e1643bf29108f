package device

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestSpaceAgainstMap compares the allocator with a map of its cells, one for
// each Align bytes, over random programs.
func TestSpaceAgainstMap(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		cells := 1 + rng.IntN(200)
		s := newSpace(7, "test:0", int64(cells)*Align+rng.Int64N(Align))
		owner := make([]int, cells) // 0 is free
		live := make(map[int]Mem)
		peak := 0
		for id := 1; id <= 1500; id++ {
			if rng.IntN(2) == 0 {
				ask := rng.Int64N(int64(cells+2) * Align / (1 + rng.Int64N(20)))
				need := int((ask + Align - 1) / Align)
				fit := firstFit(owner, need)
				m, err := s.alloc(ask)
				var b *BudgetError
				switch {
				case fit < 0 && !errors.As(err, &b):
					t.Fatalf("seed %d: alloc %d: %v, want a BudgetError", seed, ask, err)
				case fit >= 0 && (err != nil || m.Len() != ask || need > 0 && m.Off() != int64(fit)*Align):
					t.Fatalf("seed %d: alloc %d: %d bytes at %d, %v; want offset %d", seed, ask, m.Len(), m.Off(), err, fit*Align)
				}
				if err == nil {
					for i := range need {
						owner[fit+i] = id
					}
					live[id] = m
				}
			} else {
				for id, m := range live { // any
					if err := s.release(m); err != nil {
						t.Fatal(err)
					}
					if s.release(m) == nil || s.check(m, 0, 0) == nil {
						t.Fatal("a freed block passes")
					}
					for i := range owner {
						if owner[i] == id {
							owner[i] = 0
						}
					}
					delete(live, id)
					break
				}
			}
			used := 0
			for _, o := range owner {
				if o != 0 {
					used++
				}
			}
			peak = max(peak, used)
			if s.used != int64(used)*Align || s.peak != int64(peak)*Align || s.blocks != len(live) {
				t.Fatalf("seed %d: used %d, peak %d, %d blocks; want %d cells, %d, %d", seed, s.used, s.peak, s.blocks, used, peak, len(live))
			}
			checkFree(t, s, owner)
		}
	}
}

// firstFit returns the first run of need free cells, or -1.
func firstFit(owner []int, need int) int {
	for i := 0; i+need <= len(owner); i++ {
		ok := true
		for _, o := range owner[i : i+need] {
			ok = ok && o == 0
		}
		if ok {
			return i
		}
	}
	return -1
}

// checkFree checks the invariants of s.free.
func checkFree(t *testing.T, s *space, owner []int) {
	t.Helper()
	end := int64(-1)
	free := int64(0)
	for _, f := range s.free {
		if f.off <= end || f.len <= 0 || f.off%Align != 0 || f.len%Align != 0 {
			t.Fatalf("free list %v", s.free)
		}
		for c := f.off / Align; c < (f.off+f.len)/Align; c++ {
			if owner[c] != 0 {
				t.Fatalf("cell %d of block %d is in the free list %v", c, owner[c], s.free)
			}
		}
		end = f.off + f.len
		free += f.len
	}
	if free+s.used != int64(len(owner))*Align {
		t.Fatalf("%d free and %d used of %d", free, s.used, len(owner)*Align)
	}
}

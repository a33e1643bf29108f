package plan_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/internal/draw"
)

// What stays is within the budget. Of files at most twice as much is moved as of those of the best set of tenants, and each of them is
// needed. The smallest budget that an error names does, while one byte less does not.
func TestPlaceHost(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		var list []plan.Tenant
		for i := range rapid.IntRange(0, 8).Draw(t, "tenants") {
			list = append(list, plan.Tenant{Name: fmt.Sprint(i), Bytes: rapid.Int64Range(0, 1000).Draw(t, "bytes"),
				Moved: rapid.Int64Range(0, 5000).Draw(t, "moved"), Stays: rapid.IntRange(0, 2).Draw(t, "stays") == 0})
		}
		budget, staging := rapid.Int64Range(1, 4000).Draw(t, "budget"), rapid.SampledFrom([]int64{0, 0, 300}).Draw(t, "staging")
		h, err := plan.PlaceHost(list, budget, staging)
		var small *plan.HostError
		if errors.As(err, &small) {
			if small.Smallest <= budget {
				t.Fatalf("%d bytes are too few, and the smallest that do are %d", budget, small.Smallest)
			}
			if h, err = plan.PlaceHost(list, small.Smallest, staging); err != nil {
				t.Fatalf("the smallest, %d bytes: %v", small.Smallest, err)
			}
			if _, err := plan.PlaceHost(list, small.Smallest-1, staging); !errors.As(err, &small) {
				t.Fatalf("a byte less than the smallest: %v", err)
			}
			budget = small.Smallest
		} else if err != nil {
			t.Fatal(err)
		}
		memory, disk, moved := h.Staging, int64(0), int64(0)
		for i, x := range h.Tenants {
			if x.Name != list[i].Name || x.Disk && x.Stays {
				t.Fatalf("tenant %d is %+v", i, x)
			}
			if !x.Disk {
				memory += x.Bytes
				continue
			}
			if disk, moved = disk+x.Bytes, moved+x.Moved; h.Memory+x.Bytes <= budget {
				t.Fatalf("%+v is in a file and would fit", x)
			}
		}
		if least := leastMoved(list, budget, staging); moved > 2*least {
			t.Fatalf("%+v: %d bytes are moved, %d would do", h, moved, least)
		}
		if memory != h.Memory || disk != h.Disk || memory > budget || (h.Staging > 0) != (staging > 0 && disk > 0) {
			t.Fatalf("%+v: %d bytes in memory, %d in files", h, memory, disk)
		}
		all, err := plan.PlaceHost(list, 0, staging)
		if err != nil || all.Disk != 0 || all.Memory != memory+disk-h.Staging {
			t.Fatalf("without a bound: %+v, %v", all, err)
		}
	})
}

// leastMoved is how much is moved of files if the best set of tenants lies in them.
func leastMoved(list []plan.Tenant, budget, staging int64) int64 {
	best := int64(math.MaxInt64)
	for set := range 1 << len(list) {
		memory, moved, ok := int64(0), int64(0), true
		for i, x := range list {
			switch {
			case set>>i&1 == 0:
				memory += x.Bytes
			case x.Stays:
				ok = false
			default:
				moved += x.Moved
			}
		}
		if set > 0 {
			memory += staging
		}
		if ok && memory <= budget {
			best = min(best, moved)
		}
	}
	return best
}

// What lies in files already stays there.
func TestPlaceHostKeepsFiles(t *testing.T) {
	h, err := plan.PlaceHost([]plan.Tenant{{Name: "a", Bytes: 10, Disk: true}, {Name: "b", Bytes: 20}}, 50, 25)
	if err != nil || h.Disk != 10 || h.Memory != 45 || h.Tenants[1].Disk {
		t.Errorf("%+v, %v", h, err)
	}
	h, err = plan.PlaceHost([]plan.Tenant{{Name: "a", Bytes: 10, Disk: true}, {Name: "b", Bytes: 20}}, 30, 25)
	if err != nil || h.Disk != 30 || h.Memory != 25 {
		t.Errorf("%+v, %v", h, err)
	}
}

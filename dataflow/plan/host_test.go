package plan_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/internal/draw"
)

// What stays is within the budget, a smaller budget moves no more into memory, and the
// smallest that an error names does while one byte less does not.
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
		memory, disk := h.Staging, int64(0)
		for i, x := range h.Tenants {
			if x.Name != list[i].Name || x.Disk && x.Stays {
				t.Fatalf("tenant %d is %+v", i, x)
			}
			if x.Disk {
				disk += x.Bytes
				continue
			}
			memory += x.Bytes
			for _, o := range h.Tenants { // what is moved more, and fits in its place, would be here
				if o.Disk && !x.Stays && o.Bytes <= x.Bytes && o.Moved*x.Bytes > x.Moved*o.Bytes {
					t.Fatalf("%+v is in memory and %+v is not", x, o)
				}
			}
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

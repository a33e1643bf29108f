package sim

import (
	"testing"

	"sagann/dataflow/plan"
)

// TestLaid: what gathers take over rows that are laid out anew, and over rows that are not, is within a fifth of what they took on an H100: 233,000 rows, 23.2
// million uniform edges (bench/cuda/RESULTS-cuda.md).
func TestLaid(t *testing.T) {
	m, err := LoadMachine("h100")
	if err != nil {
		t.Fatal(err)
	}
	k := m.DeviceKinds["h100"]
	const v, e = 233_000, 23_200_000
	pairs := func(cols, ld int64) plan.Cost {
		return plan.Cost{EdgeElem: 7 * float64(cols), RowBytes: 4 * cols, EdgeBytes: 4, AccBytes: 16 * cols, GatherBytes: 8 * cols, OtherBytes: 8 * ld, Others: 2, Laid: plan.Laid{Row: 128, Edges: 20}}
	}
	terms := func(cols, ld int64) plan.Cost {
		return plan.Cost{EdgeElem: 4 * float64(cols), EdgeBytes: 8, AccBytes: 8 * cols, GatherBytes: 8 * cols, OtherBytes: 8 * ld, Others: 2, Laid: plan.Laid{Row: 8*cols + 512, Terms: true, Edges: 20}}
	}
	for _, x := range []struct {
		name    string
		cost    plan.Cost
		as, new float64 // ms
	}{
		{"pairs of 128 columns", pairs(128, 128), 4.57, 3.37},
		{"pairs of 602 columns", pairs(602, 608), 22.3, 16.9},
		{"terms of 128 columns", terms(128, 128), 0, 1.63},
		{"terms of 602 columns", terms(602, 608), 0, 3.40},
	} {
		for _, room := range []int64{0, 2 << 30} {
			x.cost.Laid.Room = room
			took := x.as
			if room > 0 {
				took = x.new
			}
			ms := k.KernelTime(&x.cost, v, e, v) / 1e6
			if off := ms/took - 1; took > 0 && (off < -.2 || off > .2) {
				t.Errorf("%s, %d bytes of room: %.2f ms predicted, %.2f measured", x.name, room, ms, took)
			}
		}
	}
}

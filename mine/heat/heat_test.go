package heat

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// TestPolicies: three rows and room for one of them.
func TestPolicies(t *testing.T) {
	bytes := []int64{8, 4, 4}
	extensions := [][]int64{{1, 5, 0}, {3, 1, 3}, {1, 0, 9}}
	for policy, want := range map[Policy][][2]int64{ // copied, cold
		Cold:    {{0, 28}, {0, 40}, {0, 44}},
		Degree:  {{8, 20}, {0, 16}, {0, 36}},
		History: {{8, 20}, {4, 36}, {4, 8}}, // by degree; then row 1, beside which row 0 has no room and row 2 was not read; then rows 1 and 2
		Gamma:   {{4, 8}, {4, 24}, {0, 8}},  // always row 1, as it was read so often at first; row 2 beside it
		Exact:   {{4, 8}, {8, 16}, {4, 8}},  // the row of most reads, less the copy
	} {
		c := NewCache(policy, bytes, 8)
		for i, reads := range extensions {
			if copied, cold := c.Extend(reads); [2]int64{copied, cold} != want[i] {
				t.Errorf("%s, extension %d: %d copied, %d cold; want %v", policy, i, copied, cold, want[i])
			}
		}
	}
}

// TestExact: exact reads never cost more than reading all rows where they lie, and with room for all rows each is read once over all extensions.
func TestExact(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Int64Range(1, 50), 1, 20).Draw(t, "bytes")
		room := rapid.Int64Range(0, 300).Draw(t, "room")
		some, all, cold, pager := NewCache(Exact, bytes, room), NewCache(Exact, bytes, 1<<40), NewCache(Cold, bytes, room), NewPager(bytes, 1<<40)
		var once, paged, read int64
		seen := make([]bool, len(bytes))
		for range rapid.IntRange(1, 5).Draw(t, "extensions") {
			reads := rapid.SliceOfN(rapid.Int64Range(0, 9), len(bytes), len(bytes)).Draw(t, "reads")
			a, b := some.Extend(reads)
			if none, most := cold.Extend(reads); none != 0 || a+b > most {
				t.Fatalf("%d copied, %d cold: more than %d", a, b, most)
			}
			a, b = all.Extend(reads)
			once += a + b
			for v, n := range reads {
				for range n {
					pager.Read(uint32(v))
				}
				if n > 0 && !seen[v] {
					seen[v] = true
					read += bytes[v]
				}
			}
			paged += pager.Copied()
		}
		if paged != read || once < read {
			t.Fatalf("all rows take %d bytes: %d paged, %d by exact reads", read, paged, once)
		}
	})
}

// TestPager: the row that was not read for longest goes.
func TestPager(t *testing.T) {
	p := NewPager([]int64{4, 4, 4, 100}, 8)
	var copied []int64
	for _, v := range []uint32{0, 1, 0, 2, 0, 1, 3, 3, 0} {
		p.Read(v)
		copied = append(copied, p.Copied())
	}
	if want := []int64{4, 4, 0, 4, 0, 4, 100, 0, 4}; !slices.Equal(copied, want) {
		t.Errorf("copied %v, want %v", copied, want)
	}
}

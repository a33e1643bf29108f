package device

import "testing"

func TestScratch(t *testing.T) {
	if b, give := Scratch(100); b != nil || give != nil {
		t.Error("few bytes are no work for the system")
	}
	n := 3*hugePage + 12345
	if b, give := Scratch(n); canMap {
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		for i := 0; i < n; i += 1000 {
			if b[i] != 0 {
				t.Fatalf("byte %d is %d", i, b[i])
			}
			b[i] = 1
		}
		give()
	} else if b != nil {
		t.Error("mapped pages where there are none")
	}
}

// TestFresh: advice changes no byte, whatever the size and place.
func TestFresh(t *testing.T) {
	b := make([]byte, 5*hugePage)
	for i := range b {
		b[i] = byte(i % 251)
	}
	for _, n := range []int{0, 1, hugePage, 2*hugePage - 1, len(b) - 77} {
		Fresh(b[77 : 77+n])
	}
	for i := range b {
		if b[i] != byte(i%251) {
			t.Fatalf("byte %d has changed", i)
		}
	}
}

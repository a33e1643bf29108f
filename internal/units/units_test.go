package units

import "testing"

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 20000: "19.5 KiB", 2791728742: "2.60 GiB", 3 << 20: "3.00 MiB", 1 << 45: "32.00 TiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestLeast: what is printed is never less than what is needed.
func TestLeast(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1000: "1000 bytes", 1 << 20: "1.00 MiB (1048576 bytes)", 1<<20 + 1: "1.01 MiB (1048577 bytes)", 20000: "19.54 KiB (20000 bytes)"} {
		if got := Least(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 batches", 0: "0 batches", 1: "1 batch", 2: "2 batches"} {
		if got := Counted(n, "batch", "batches"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

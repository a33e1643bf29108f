package cli

import "testing"

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "233000": 233000, "233e3": 233000, "2.5M": 2500000, "8GiB": 8 << 30, "1gib": 1 << 30,
		"64MB": 64e6, "4.35M": 4350000, "1.5e3K": 1500000, "0.001MB": 1000, "8Ki": 8192, "12 KiB": 12288, "100B": 100, "9007199254740993": 9007199254740993} {
		if got, err := ParseCount(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5", "GiB", "NaN", "Inf", "1e30", "0x10p", "8GiBB", "--"} {
		if got, err := ParseCount(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestParseSize: bytes may be given as fractions of a unit, and what is left of a byte is
// dropped, whether the fraction has a finite binary expansion (6.5) or none (2.6).
func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "2.6GiB": 2791728742, "6.5GiB": 6979321856, "2.6gib": 2791728742, "0.3GB": 300000000,
		"1.1 TB": 1100000000000, "4.35MB": 4350000, "1.5": 1, "0.1KiB": 102, "1e9": 1e9, "9007199254740993": 9007199254740993} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1GiB", "GiB", "NaN", "Inf", "1e30", "1e999999999", "0x10", "1e2e3", "8GiBB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

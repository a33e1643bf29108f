package cli

import "testing"

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "233000": 233000, "233e3": 233000, "2.5M": 2500000, "8GiB": 8 << 30, "1gib": 1 << 30,
		"64MB": 64e6, "8Ki": 8192, "12 KiB": 12288, "100B": 100, "9007199254740993": 9007199254740993} {
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

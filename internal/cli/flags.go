package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// These types read the values of flags; kong finds their methods by reflection.
var _ = []kong.MapperValue{new(Count), new(Memory), new(Auto), new(Toggle)}

// Count is a whole number that may be written 233000, 233e3, 8K or 8Ki.
type Count int64

// Decode reads the value of a flag.
func (c *Count) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "")
	*c = Count(n)
	return err
}

// Memory is a number of bytes such as 8GiB or 1e9; 0 stands for "auto".
type Memory int64

// Decode reads the value of a flag.
func (b *Memory) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "auto")
	*b = Memory(n)
	return err
}

// Auto is a whole number or "auto", which is 0.
type Auto int64

// Decode reads the value of a flag.
func (a *Auto) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "auto")
	*a = Auto(n)
	return err
}

// Toggle is on, off or auto.
type Toggle string

// Decode reads the value of a flag.
func (t *Toggle) Decode(ctx *kong.DecodeContext) error {
	var s string
	if err := ctx.Scan.PopValueInto("value", &s); err != nil {
		return err
	}
	switch strings.ToLower(s) {
	case "auto":
		*t = "auto"
	case "on", "true", "yes", "1":
		*t = "on"
	case "off", "false", "no", "0":
		*t = "off"
	default:
		return fmt.Errorf("%q is not one of on, off, auto", s)
	}
	return nil
}

// Or is the toggle's value, def for auto.
func (t Toggle) Or(def bool) bool {
	if t == "on" || t == "off" {
		return t == "on"
	}
	return def
}

// parseNumber reads the next value as a number that is not negative; word, when not
// "", stands for 0, and 0 itself is then refused.
func parseNumber(ctx *kong.DecodeContext, word string) (int64, error) {
	var s string
	if err := ctx.Scan.PopValueInto("number", &s); err != nil {
		return 0, err
	}
	if word != "" && s == word {
		return 0, nil
	}
	n, err := ParseCount(s)
	if err == nil && n == 0 && word != "" {
		return 0, fmt.Errorf("0 is too small; a number from 1 on, or %s", word)
	}
	return n, err
}

// units end a number. Powers of 1024 have an i.
var units = []struct {
	name string
	n    float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"B", 1},
}

// ParseCount reads 233000, 233e3, 2.5M, 8GiB: a whole number from 0 on, below 2^53
// unless written without a point, an exponent or a unit.
func ParseCount(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	text, scale := s, 1.0
	for _, u := range units {
		if rest, ok := cutSuffixFold(s, u.name); ok {
			text, scale = rest, u.n
			break
		}
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if x *= scale; err == nil && x > 1<<53 {
		return 0, fmt.Errorf("%q is too large", s)
	}
	if err != nil || math.IsNaN(x) || x < 0 || x != math.Trunc(x) {
		return 0, fmt.Errorf("%q is not a whole number from 0 on, such as 233000, 233e3 or 8GiB", s)
	}
	return int64(x), nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 1 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// SizeText prints bytes for people.
func SizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.2f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

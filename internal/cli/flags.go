package cli

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"sagann/internal/units"
)

// These types read the values of flags; kong finds their methods by reflection.
var _ = []kong.MapperValue{new(Count), new(Memory), new(Auto), new(Toggle)}

// Count is a whole number that may be written 233000, 233e3, 8K or 8Ki.
type Count int64

// Decode reads the value of a flag.
func (c *Count) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "", ParseCount)
	*c = Count(n)
	return err
}

// Memory is a number of bytes such as 8GiB, 2.6GiB or 1e9, rounded down to whole bytes; 0
// means "auto".
type Memory int64

// Decode reads the value of a flag.
func (b *Memory) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "auto", ParseSize)
	*b = Memory(n)
	return err
}

// Auto is a whole number or "auto", which is 0.
type Auto int64

// Decode reads the value of a flag.
func (a *Auto) Decode(ctx *kong.DecodeContext) error {
	n, err := parseNumber(ctx, "auto", ParseCount)
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

// LowerCase reads a name, or a comma-separated list of names, in upper or lower
// case.
func LowerCase(ctx *kong.DecodeContext, target reflect.Value) error {
	var s string
	if err := ctx.Scan.PopValueInto("name", &s); err != nil {
		return err
	}
	s = strings.ToLower(s)
	if target.Kind() == reflect.Slice {
		target.Set(reflect.ValueOf(strings.Split(s, ",")))
		return nil
	}
	target.SetString(s)
	return nil
}

// parseNumber reads the next value with parse. If word is not "", it means 0, and 0
// itself is an error.
func parseNumber(ctx *kong.DecodeContext, word string, parse func(string) (int64, error)) (int64, error) {
	var s string
	if err := ctx.Scan.PopValueInto("number", &s); err != nil {
		return 0, err
	}
	if word != "" && s == word {
		return 0, nil
	}
	n, err := parse(s)
	if err == nil && n == 0 && word != "" {
		return 0, fmt.Errorf("%s is too small; a number from 1 on, or %s", s, word)
	}
	return n, err
}

// suffixes are the units of numbers. Those with an i are powers of 1024, given by their factor; the
// others are powers of 10, given by their exponent.
var suffixes = []struct {
	name     string
	factor   float64
	exponent int
}{
	{"KiB", 1 << 10, 0}, {"MiB", 1 << 20, 0}, {"GiB", 1 << 30, 0}, {"TiB", 1 << 40, 0},
	{"Ki", 1 << 10, 0}, {"Mi", 1 << 20, 0}, {"Gi", 1 << 30, 0}, {"Ti", 1 << 40, 0},
	{"KB", 1, 3}, {"MB", 1, 6}, {"GB", 1, 9}, {"TB", 1, 12},
	{"K", 1, 3}, {"M", 1, 6}, {"G", 1, 9}, {"T", 1, 12}, {"B", 1, 0},
}

// ParseCount reads 233000, 233e3, 2.5M, 8Ki: a whole number from 0 on, at most 2^53
// unless written without a point, an exponent or a unit.
func ParseCount(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	x, err := parseScaled(s)
	if err == nil && x != math.Trunc(x) || errors.Is(err, errNoNumber) {
		return 0, fmt.Errorf("%q is not a whole number from 0 on, such as 233000, 233e3 or 8Ki", s)
	}
	return int64(x), err
}

// ParseSize reads a number of bytes such as 8GiB, 2.6GiB or 1e9, rounded down to whole bytes. Its bound is
// that of ParseCount.
func ParseSize(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	x, err := parseScaled(s)
	if errors.Is(err, errNoNumber) {
		return 0, fmt.Errorf("%q is not a size, such as 8GiB, 2.6GiB or 500MB", s)
	}
	return int64(x), err
}

// errNoNumber says that a text is not a number, or a negative one.
var errNoNumber = errors.New("not a number from 0 on")

// parseScaled reads a number from 0 on that may end in a unit. A power of ten is added to the text as an
// exponent, so that 4.35M is exactly a whole number.
func parseScaled(s string) (float64, error) {
	text, factor, exponent := s, 1.0, 0
	for _, u := range suffixes {
		if rest, ok := cutSuffixFold(s, u.name); ok {
			text, factor, exponent = rest, u.factor, u.exponent
			break
		}
	}
	text = strings.TrimSpace(text)
	if digits, power, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		n, err := strconv.Atoi(power)
		if err != nil {
			return 0, errNoNumber
		}
		text, exponent = digits, exponent+n
	}
	x, err := strconv.ParseFloat(fmt.Sprintf("%se%d", text, exponent), 64)
	x *= factor
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && x > 1<<53:
		return 0, fmt.Errorf("%q is too large", s)
	case err != nil || !(x >= 0):
		return 0, errNoNumber
	}
	return x, nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 1 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// SizeText prints bytes for people.
func SizeText(n int64) string { return units.Size(n) }

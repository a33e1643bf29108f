// Package units prints sizes and counts for people.
package units

import (
	"fmt"
	"math"
)

// Size prints bytes in the largest binary unit that they fill, such as 2.60 GiB.
func Size(n int64) string {
	switch {
	case n >= 1<<40:
		return fmt.Sprintf("%.2f TiB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.2f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Least prints a size that is needed: rounded up, so that the printed size is enough, and
// also in bytes.
func Least(n int64) string {
	step := int64(1)
	switch {
	case n >= 1<<30:
		step = 1 << 30
	case n >= 1<<20:
		step = 1 << 20
	case n >= 1<<10:
		step = 1 << 10
	default:
		return fmt.Sprintf("%d bytes", n)
	}
	up := math.Ceil(100*float64(n)/float64(step)) / 100
	return fmt.Sprintf("%.2f %s (%d bytes)", up, map[int64]string{1 << 30: "GiB", 1 << 20: "MiB", 1 << 10: "KiB"}[step], n)
}

// Counted prints n of something: 1 batch, 2 batches.
func Counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

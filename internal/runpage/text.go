package runpage

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// none is the text for an unknown value.
const none = "–"

// intText writes a number with commas between thousands.
func intText(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// timeText writes seconds with three digits and a unit.
func timeText(s float64) string {
	switch {
	case math.IsNaN(s):
		return none
	case s >= 60:
		return time.Duration(s * 1e9).Round(time.Second).String()
	case s >= 1:
		return fmt.Sprintf("%.2f s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s > 0:
		return fmt.Sprintf("%.3g µs", s*1e6)
	}
	return "0 s"
}

// scoreText writes a score between 0 and 1 with four digits.
func scoreText(x float64) string {
	if math.IsNaN(x) {
		return none
	}
	return fmt.Sprintf("%.4f", x)
}

// lossText writes a loss with six digits.
func lossText(x float64) string {
	if math.IsNaN(x) {
		return none
	}
	return fmt.Sprintf("%.6g", x)
}

// percentText writes a share with one digit.
func percentText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return none
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

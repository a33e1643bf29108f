package dataset

import (
	"fmt"
	"math"
	"time"
)

// Times of edges and vertices are float64: numbers in any unit, or days and moments as ISO 8601 has them, which become seconds since 1970.

// mostExact is 2^53: every whole number below it is a float64 of its own, and the one above it is read as it.
const mostExact = 1 << 53

// moments are the forms of days and moments; fractions of a second may follow the seconds.
var moments = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"}

// parseTime reads a time.
func parseTime(text []byte) (float64, error) {
	x, _, err := timeOf(text)
	return x, err
}

// timeOf reads a time, and tells whether it is a day or moment.
func timeOf(text []byte) (x float64, day bool, err error) {
	if x, err = parseFloat(text); err == nil {
		return x, false, exactTime(x)
	}
	for _, form := range moments {
		if t, err := time.Parse(form, string(text)); err == nil {
			return float64(t.Unix()) + float64(t.Nanosecond())/1e9, true, nil
		}
	}
	return 0, false, fmt.Errorf("%.40q is no time: a number, or a day or moment such as 2026-03-01 or 2026-03-01 12:30:00", text)
}

// exactTime refuses a number that may stand for several.
func exactTime(x float64) error {
	switch {
	case x-x != 0:
		return fmt.Errorf("%v is no time", x)
	case math.Abs(x) >= mostExact:
		return fmt.Errorf("time %.17g is not below 2^53, where float64 leaves whole numbers out; take a larger unit, or subtract the earliest", x)
	}
	return nil
}

// DayText is a time as a moment, if it is likely one: seconds since 1970, of the years 1990 to 2100; else "".
func DayText(t float64) string {
	if from, to := 631152000.0, 4102444800.0; t < from || t > to {
		return ""
	}
	return time.Unix(int64(t), 0).UTC().Format(time.DateTime)
}

package runpage

import (
	"math"

	"sagann/internal/runfolder"
)

// maxPoints is the most points of a curve in a page. A screen cannot show more, and 8 such curves
// take less than a megabyte. Longer runs are thinned evenly.
const maxPoints = 2000

// chart is a picture in the form that the page's script reads.
type chart struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Share  bool     `json:"share"` // values lie in [0, 1]
	Log    bool     `json:"log"`   // a logarithmic axis at first
	Unit   string   `json:"unit"`
	Series []series `json:"series"`
}

// series is one curve.
type series struct {
	Name  string    `json:"name"`
	Color int       `json:"color"` // number of a colour of the style
	X     []int     `json:"x"`
	Y     []float64 `json:"y"`
}

// newSeries is the curve of the finite values over their epochs, thinned to about most points. The last one is
// kept.
func newSeries(name string, color, most int, list []runfolder.Epoch, value func(runfolder.Epoch) float64) series {
	s := series{Name: name, Color: color, X: []int{}, Y: []float64{}}
	for _, e := range list {
		if y := value(e); !math.IsNaN(y) && !math.IsInf(y, 0) {
			s.X, s.Y = append(s.X, e.Epoch), append(s.Y, y)
		}
	}
	step := (len(s.X) + most - 1) / most
	if step < 2 {
		return s
	}
	n, last := 0, len(s.X)-1
	for i := range s.X {
		if i%step == 0 || i == last {
			s.X[n], s.Y[n] = s.X[i], s.Y[i]
			n++
		}
	}
	s.X, s.Y = s.X[:n], s.Y[:n]
	return s
}

// logSpan is the ratio of the largest to the smallest value from which the axis is logarithmic. On a
// linear axis most of such a curve would lie near 0.
const logSpan = 20

// newChart is a chart of those curves that have values. The axis is logarithmic if the values above 0 span
// more than logSpan.
func newChart(id, title, unit string, share bool, all ...series) chart {
	c := chart{ID: id, Title: title, Unit: unit, Share: share, Series: []series{}}
	lo, hi := math.Inf(1), 0.0
	for _, s := range all {
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
		for _, y := range s.Y {
			lo, hi = math.Min(lo, y), math.Max(hi, y)
		}
	}
	c.Log = !share && lo > 0 && hi > logSpan*lo
	return c
}

func lossOf(e runfolder.Epoch) float64    { return e.Loss }
func valLossOf(e runfolder.Epoch) float64 { return e.ValLoss }
func trainOf(e runfolder.Epoch) float64   { return e.Train }
func valOf(e runfolder.Epoch) float64     { return e.Val }
func testOf(e runfolder.Epoch) float64    { return e.Test }
func secondsOf(e runfolder.Epoch) float64 { return e.Seconds }

// charts are the pictures of one run.
func (r *Run) charts() []chart {
	list := r.Epochs
	return []chart{
		newChart("loss", "Loss", "", false, newSeries("training", 0, maxPoints, list, lossOf), newSeries("validation", 1, maxPoints, list, valLossOf)),
		newChart("score", capital(r.metric()), "", true, newSeries("training", 0, maxPoints, list, trainOf), newSeries("validation", 1, maxPoints, list, valOf), newSeries("test", 2, maxPoints, list, testOf)),
		newChart("time", "Time of an epoch", "s", false, newSeries("training step", 0, maxPoints, list, secondsOf)),
	}
}

package runfolder

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is one named line of a picture.
type curve struct {
	name   string
	color  color.Color
	dashes []vg.Length
	value  func(Epoch) float64
}

// PlotCurves draws the metrics.csv of the run folder dir: loss.png and loss.svg
// (training, validation), accuracy.png and accuracy.svg (training, validation, test),
// over old ones if there are any. A picture without a single measured value is not made.
func PlotCurves(dir string) error { return PlotCurvesOf(dir, "accuracy") }

// PlotCurvesOf is PlotCurves for a run whose metric in [0, 1] is another, such as
// "micro-F1"; the picture is then called micro-f1.png.
func PlotCurvesOf(dir, metric string) error {
	list, err := ReadMetrics(dir)
	if err != nil {
		return err
	}
	dashes := []vg.Length{vg.Points(7), vg.Points(3)}
	loss := []curve{
		{"training", blue, nil, func(e Epoch) float64 { return e.Loss }},
		{"validation", orange, dashes, func(e Epoch) float64 { return e.ValLoss }},
	}
	if err := picture(dir, "loss", list, loss, false); err != nil {
		return err
	}
	return picture(dir, metric, list, []curve{
		{"training", blue, nil, func(e Epoch) float64 { return e.Train }},
		{"validation", orange, dashes, func(e Epoch) float64 { return e.Val }},
		{"test", green, []vg.Length{vg.Points(2), vg.Points(2)}, func(e Epoch) float64 { return e.Test }},
	}, true)
}

// picture draws the curves that have values; share means that these lie in [0, 1].
// The legend, with the last value of each curve, is beside the axes, where it covers no
// curve.
func picture(dir, title string, list []Epoch, curves []curve, share bool) error {
	p := newPlot(title)
	legend := newLegend()
	drawn := 0
	for _, c := range curves {
		pts := points(list, c.value)
		if len(pts) == 0 {
			continue
		}
		drawn++
		line, err := plotter.NewLine(pts)
		if err != nil {
			return fmt.Errorf("curve %s: %w", c.name, err)
		}
		line.LineStyle = draw.LineStyle{Color: c.color, Width: vg.Points(1.6), Dashes: c.dashes}
		p.Add(line)
		if len(pts) == 1 { // a line of one point is invisible
			dot, err := plotter.NewScatter(pts)
			if err != nil {
				return fmt.Errorf("curve %s: %w", c.name, err)
			}
			dot.GlyphStyle = draw.GlyphStyle{Color: c.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
			p.Add(dot)
		}
		legend.Add(fmt.Sprintf("%s, last %.4g", c.name, pts[len(pts)-1].Y), line)
	}
	if drawn == 0 {
		return nil
	}
	p.X.Min, p.X.Max = float64(min(list[0].Epoch, 1)), float64(max(list[len(list)-1].Epoch, 2))
	if share {
		p.Y.Min, p.Y.Max = 0, 1
	} else if p.Y.Min > 0 {
		p.Y.Min = 0
	}
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	for _, ext := range []string{"png", "svg"} {
		if err := save(p, legend, filepath.Join(dir, strings.ToLower(title)+"."+ext)); err != nil {
			return err
		}
	}
	return nil
}

// points are the finite values over their epochs.
func points(list []Epoch, value func(Epoch) float64) plotter.XYs {
	var pts plotter.XYs
	for _, e := range list {
		if y := value(e); !math.IsNaN(y) && !math.IsInf(y, 0) {
			pts = append(pts, plotter.XY{X: float64(e.Epoch), Y: y})
		}
	}
	return pts
}

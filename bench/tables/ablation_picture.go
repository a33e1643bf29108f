package tables

import (
	"bufio"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sagann/internal/cli"
)

// inks are the colours of models in a picture, and marks their forms, for readers who see no colours.
var (
	inks  = []color.RGBA{{0x1f, 0x5f, 0xb4, 0xff}, {0xd9, 0x6b, 0x0b, 0xff}, {0x2a, 0x8f, 0x4d, 0xff}, {0x8e, 0x44, 0xad, 0xff}, {0x66, 0x66, 0x66, 0xff}}
	marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}}
)

// drawAblation draws the times of an epoch with parts left out as multiples of that with everything, a line
// for each row but the first.
func drawAblation(path string, models []string, rows []omission, found [][]*measured) error {
	p := plot.New()
	p.X.Label.Text = "time of an epoch without it, as a multiple"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks(multiples)
	p.X.Min, p.X.Max = 0.9, 2
	labels := make([]string, len(rows)-1)
	for i, r := range rows[1:] {
		labels[len(labels)-1-i] = r.label // from the top down
	}
	p.NominalY(labels...)
	p.Y.Min, p.Y.Max, p.Y.Padding = -0.6, float64(len(labels))-0.4, vg.Points(10)
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
	}
	grid := plotter.NewGrid()
	grid.Vertical = draw.LineStyle{Color: color.Gray{0xdd}, Width: vg.Points(0.5)}
	grid.Horizontal = grid.Vertical
	p.Add(grid)
	p.Legend.Padding = vg.Points(3)
	for m, name := range models {
		var at plotter.XYs
		for i := range rows[1:] {
			if f := found[m][i+1]; f != nil {
				x := f.seconds() / found[m][0].seconds()
				at = append(at, plotter.XY{X: x, Y: float64(len(labels) - 1 - i)})
				p.X.Min, p.X.Max = min(p.X.Min, x/1.05), max(p.X.Max, x*1.1)
			}
		}
		s, err := plotter.NewScatter(at)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.GlyphStyle = draw.GlyphStyle{Color: inks[m%len(inks)], Shape: marks[m%len(marks)], Radius: vg.Points(3.5)}
		p.Add(s)
		p.Legend.Add(name, s)
	}
	picture, err := p.WriterTo(18*vg.Centimeter, 11*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	return cli.WriteWhole(path, func(w *bufio.Writer) error { _, err := picture.WriteTo(w); return err })
}

// multiples are the ticks of the axis of times.
var multiples = []plot.Tick{{Value: 1, Label: "1"}, {Value: 1.5, Label: "1.5"}, {Value: 2, Label: "2"}, {Value: 3, Label: "3"}, {Value: 5, Label: "5"},
	{Value: 10, Label: "10"}, {Value: 20, Label: "20"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}, {Value: 1000, Label: "1000"}}

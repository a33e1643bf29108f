package runfolder

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a picture; the legend takes the right part of the width.
const (
	width       = 20 * vg.Centimeter
	height      = 10 * vg.Centimeter
	margin      = 0.4 * vg.Centimeter
	legendWidth = 5.2 * vg.Centimeter
	dpi         = 144 // of the PNG
)

// Colours that stay apart in print and for colour-blind readers, told apart by
// their dashes too.
var (
	blue   = color.RGBA{0x1f, 0x5f, 0xb4, 0xff}
	orange = color.RGBA{0xd9, 0x6b, 0x0b, 0xff}
	green  = color.RGBA{0x2a, 0x8f, 0x4d, 0xff}
	ink    = color.Gray{0x33}
	faint  = color.Gray{0xdd}
)

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// newPlot is an empty picture with labelled axes and a grid.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title + " by epoch"
	p.Title.TextStyle.Font = sans(14)
	p.Title.TextStyle.Color = ink
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = "epoch", title
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(12)
		a.Label.TextStyle.Color = ink
		a.Label.Padding = vg.Points(5)
		a.Tick.Label.Font = sans(10)
		a.Tick.Label.Color = ink
		a.Tick.LineStyle.Color, a.LineStyle.Color = ink, ink
		a.Padding = 0
	}
	p.X.Tick.Marker = ticks{least: 1} // epochs are whole
	p.Y.Tick.Marker = ticks{}
	grid := plotter.NewGrid()
	grid.Vertical = draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	grid.Horizontal = grid.Vertical
	p.Add(grid)
	return p
}

// newLegend is an empty legend for the right side of a picture.
func newLegend() *plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle.Font = sans(11)
	l.TextStyle.Color = ink
	l.ThumbnailWidth = vg.Points(26)
	l.Padding = vg.Points(5)
	return &l
}

// ticks marks the multiples of the smallest 1, 2 or 5 times a power of ten that
// gives at most ten labels and is not below least.
type ticks struct{ least float64 }

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi-lo > 1e-300) || math.IsInf(hi-lo, 0) { // NaN is refused too
		return nil
	}
	exp := int(math.Floor(math.Log10((hi - lo) / 10)))
	digit, step := 1, math.Pow10(exp)
	for step < t.least || (hi-lo)/step > 10.001 {
		switch digit {
		case 1, 5:
			digit *= 2
		case 2:
			digit = 5
		}
		if digit == 10 {
			digit, exp = 1, exp+1
		}
		step = float64(digit) * math.Pow10(exp)
	}
	var list []plot.Tick
	// Adding 0 turns -0, which would be printed so, into 0. The count is bounded
	// because first+k stops growing when first passes 2^53.
	first := math.Ceil(lo/step-1e-9) + 0
	for k := 0.0; k <= 11 && first+k <= hi/step+1e-9; k++ {
		x := (first + k) * step
		text := strconv.FormatFloat(x, 'f', max(0, -exp), 64)
		if max(math.Abs(lo), math.Abs(hi)) >= 1e6 || exp < -6 {
			text = strconv.FormatFloat(x, 'g', 4, 64)
		}
		list = append(list, plot.Tick{Value: x, Label: text})
	}
	return list
}

// indexed is an opaque picture with at most 255 colours, each channel of 16 levels: a PNG of it takes a third of the time and of the
// bytes, and the edges of letters and lines look the same. A picture that has more colours is returned as it is.
func indexed(whole image.Image) image.Image {
	of, ok := whole.(*image.RGBA)
	if !ok {
		return whole
	}
	out := image.NewPaletted(of.Rect, nil)
	var level [256]uint8 // of 16
	for x := range level {
		level[x] = uint8((x + 8) / 17)
	}
	var index [1 << 12]uint8 // by levels, the number in the palette and 1 more
	for y := range of.Rect.Dy() {
		row, to := of.Pix[y*of.Stride:], out.Pix[y*out.Stride:]
		for x := range of.Rect.Dx() {
			r, g, b := level[row[4*x]], level[row[4*x+1]], level[row[4*x+2]]
			at := &index[int(r)<<8|int(g)<<4|int(b)]
			if *at == 0 {
				if len(out.Palette) == 255 {
					return whole
				}
				out.Palette = append(out.Palette, color.RGBA{17 * r, 17 * g, 17 * b, 0xff})
				*at = uint8(len(out.Palette))
			}
			to[x] = *at - 1
		}
	}
	return out
}

// newCanvas is a white canvas for a PNG. It draws into its image as it is, where vgimg itself would copy the image first.
func newCanvas() *vgimg.Canvas {
	dots := func(x vg.Length) int { return int(x.Dots(dpi) + 0.5) }
	img := image.NewRGBA(image.Rect(0, 0, dots(width), dots(height)))
	g := gg.NewContextForRGBA(img)
	g.SetLineCapButt()
	g.InvertY()
	return vgimg.NewWith(vgimg.UseImageWithContext(img, g), vgimg.UseDPI(dpi))
}

// save draws the picture in the format that the ending of path says. It writes a temporary file and
// renames it, so that readers never see a part of a picture.
func save(p *plot.Plot, legend *plot.Legend, path string) error {
	var canvas vg.CanvasSizer
	var write func(io.Writer) error
	svg := filepath.Ext(path) == ".svg"
	if svg {
		x := vgsvg.New(width, height)
		canvas, write = x, func(w io.Writer) error { _, err := x.WriteTo(w); return err }
	} else {
		x := newCanvas()
		fast := png.Encoder{CompressionLevel: png.BestSpeed} // slower levels would take most of the time at the end of a short run
		canvas, write = x, func(w io.Writer) error { return fast.Encode(w, indexed(x.Image())) }
	}
	c := draw.New(canvas)
	p.BackgroundColor = nil // a plot would fill it pixel by pixel
	if svg {                // a PNG's canvas is white
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
	}
	c = draw.Crop(c, margin, -margin, margin, -margin)
	p.Draw(draw.Crop(c, 0, -legendWidth, 0, 0))
	top := p.Title.TextStyle.Font.Size + p.Title.Padding
	legend.Draw(draw.Crop(c, c.Rectangle.Size().X-legendWidth+vg.Points(10), 0, 0, -top))

	var text bytes.Buffer
	if err := write(&text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := text.Bytes()
	if svg { // other fonts of the same widths, where a browser lacks this one
		out = bytes.ReplaceAll(out, []byte("font-family:Liberation Sans"),
			[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif"))
	}
	return writeWhole(path, out)
}

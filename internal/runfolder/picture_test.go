package runfolder

import (
	"image"
	"image/color"
	"testing"
)

// TestIndexed: a picture of few colours keeps them to within half a level, one of many is returned as it is.
func TestIndexed(t *testing.T) {
	few, many := image.NewRGBA(image.Rect(0, 0, 40, 30)), image.NewRGBA(image.Rect(0, 0, 40, 30))
	for y := range 30 {
		for x := range 40 {
			few.SetRGBA(x, y, color.RGBA{blue.R, uint8(x / 10 * 60), uint8(y), 0xff})
			many.SetRGBA(x, y, color.RGBA{uint8(6 * x), uint8(8 * y), uint8(7 * x * y), 0xff})
		}
	}
	got := indexed(few)
	if _, ok := got.(*image.Paletted); !ok {
		t.Fatalf("a picture of few colours is a %T", got)
	}
	for y := range 30 {
		for x := range 40 {
			a, b := few.RGBAAt(x, y), color.RGBAModel.Convert(got.At(x, y)).(color.RGBA)
			for i, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
				if d < -8 || d > 8 {
					t.Fatalf("channel %d at %d, %d is off by %d", i, x, y, d)
				}
			}
		}
	}
	if indexed(many) != image.Image(many) {
		t.Error("a picture of many colours is another one")
	}
}

package progress

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clock is a time that the test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) step(d time.Duration) { c.t = c.t.Add(d) }
func newClock() *clock                { return &clock{time.Unix(1e9, 0)} }
func lines(b *bytes.Buffer) []string {
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}
func loss(n int) string { return fmt.Sprintf("loss %.2f", 1/float64(n)) }

func TestPlainLinesAreBounded(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	b := newBar(&out, false, 100, "epoch", c.now)
	for n := 1; n <= 100; n++ {
		c.step(40 * time.Millisecond) // 4 s in all
		b.Set(n, loss(n))
	}
	b.Finish()
	b.Finish()
	b.Set(7, "late")
	want := []string{
		"epoch   1/100  loss 1.00  0.0s, 4s left",
		"epoch  26/100  loss 0.04  1.0s, 3s left",
		"epoch  51/100  loss 0.02  2.0s, 2s left",
		"epoch  76/100  loss 0.01  3.0s, 1s left",
		"epoch 100/100  loss 0.01  4.0s",
	}
	if d := cmp.Diff(want, lines(&out)); d != "" {
		t.Error(d)
	}
}

func TestPlainGivenUp(t *testing.T) {
	var out bytes.Buffer
	c := newClock()
	b := newBar(&out, false, 10, "epoch", c.now)
	b.Set(1, "")
	c.step(100 * time.Millisecond)
	b.Set(2, "")
	c.step(90 * time.Second)
	b.Finish()
	want := []string{"epoch  1/10  0.0s, 0s left", "epoch  2/10  1m30s"}
	if d := cmp.Diff(want, lines(&out)); d != "" {
		t.Error(d)
	}
}

func TestPlainUnknownTotalAndNothing(t *testing.T) {
	var out bytes.Buffer
	b := newBar(&out, false, -1, "read", newClock().now)
	b.Finish()
	if out.Len() != 0 {
		t.Errorf("nothing was done, yet %q", &out)
	}
	b = newBar(&out, false, 0, "read", newClock().now)
	b.Set(12, "")
	b.Finish()
	if got := out.String(); got != "read 12  0.0s\n" {
		t.Errorf("%q", got)
	}
}

func TestDrawn(t *testing.T) {
	for _, total := range []int{50, 0} {
		var out bytes.Buffer
		c := newClock()
		b := newBar(&out, true, total, "epoch", c.now)
		for n := 1; n <= 50; n++ {
			c.step(20 * time.Millisecond)
			b.Set(n, loss(n))
		}
		b.Finish()
		draws := strings.Split(out.String(), "\r")[1:]
		if len(draws) < 5 || len(draws) > 14 {
			t.Errorf("%d drawings in one second", len(draws))
		}
		last := draws[len(draws)-1]
		if strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(last, "\n") {
			t.Errorf("not one line: %q", &out)
		}
		for _, part := range []string{"epoch 50", "loss 0.02", "1.0s"} {
			if !strings.Contains(last, part) {
				t.Errorf("no %q in %q", part, last)
			}
		}
		if total > 0 && !strings.Contains(last, "[====") {
			t.Errorf("no bar in %q", last)
		}
	}
}

// TestNew: a file is not a terminal.
func TestNew(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := New(f, 2, "epoch")
	b.Set(1, "loss 2")
	b.Set(2, "loss 1")
	b.Finish()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 2 || bytes.ContainsAny(text, "\r\x1b") {
		t.Errorf("%q", text)
	}
}

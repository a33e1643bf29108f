package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/mattn/go-isatty"
)

// The least times between two drawings of a bar, and between two plain lines.
const (
	drawEvery = 100 * time.Millisecond
	lineEvery = time.Second
)

// Bar is the progress of one piece of work that has a known number of steps. Its
// methods may be called from several goroutines.
type Bar struct {
	mu       sync.Mutex
	show     view
	every    time.Duration
	now      func() time.Time
	start    time.Time
	last     time.Time // of the last showing
	total    int       // 0: not known
	n        int
	note     string
	shown    bool // n and note were shown, or there is nothing to show
	redraws  bool // the view is a line that is drawn again and again
	finished bool
}

// view is one way to show progress.
type view interface {
	// update shows that n of total steps are done; took is the time it took and what
	// is left in words; last is true once, when nothing follows.
	update(n, total int, note, took string, last bool)
}

// New returns a bar on w for total steps, called label, such as "epoch". On a
// terminal it is drawn at once; elsewhere the first line comes with the first Set. A
// total of 0 or less means that the number of steps is unknown.
func New(w *os.File, total int, label string) *Bar {
	fd := w.Fd()
	tty := (isatty.IsTerminal(fd) || isatty.IsCygwinTerminal(fd)) && os.Getenv("TERM") != "dumb"
	return newBar(w, tty, total, label, time.Now)
}

func newBar(w io.Writer, tty bool, total int, label string, now func() time.Time) *Bar {
	b := &Bar{total: max(total, 0), now: now, start: now(), shown: true}
	if !tty {
		b.show, b.every = &plain{w: w, label: label}, lineEvery
		return b
	}
	b.show, b.every, b.redraws = newDrawn(w, b.total, label), drawEvery, true
	b.update(false)
	return b
}

// Set says that n steps are done. note, such as the loss and the accuracy, is shown
// with them. The first and the last step are always shown, others only if enough
// time has passed. After Finish it does nothing.
func (b *Bar) Set(n int, note string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	first := b.last.IsZero()
	b.n, b.note, b.shown = n, note, false
	if first || n == b.total || b.now().Sub(b.last) >= b.every {
		b.update(false)
	}
}

// Finish shows the last Set, if that was not shown, and ends the line of a
// bar. Call it also when the work has failed. A second call does nothing.
func (b *Bar) Finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	b.finished = true
	if b.redraws || !b.shown { // a drawn line still needs its end
		b.update(true)
	}
}

// update shows the present state.
func (b *Bar) update(last bool) {
	b.last, b.shown = b.now(), true
	elapsed := b.last.Sub(b.start)
	t := fmt.Sprintf("%.1fs", elapsed.Seconds())
	if elapsed >= time.Minute {
		t = elapsed.Round(time.Second).String()
	}
	if 0 < b.n && b.n < b.total && !last {
		left := elapsed / time.Duration(b.n) * time.Duration(b.total-b.n)
		t += ", " + left.Round(time.Second).String() + " left"
	}
	b.show.update(b.n, b.total, b.note, t, last)
}

// plain writes one line for each update.
type plain struct {
	w     io.Writer
	label string
}

func (p *plain) update(n, total int, note, took string, last bool) {
	count := fmt.Sprint(n)
	if total > 0 {
		count = fmt.Sprintf("%*d/%d", len(fmt.Sprint(total)), n, total)
	}
	if note != "" {
		note += "  "
	}
	// Nothing useful can be done when standard error fails.
	fmt.Fprintf(p.w, "%s %s  %s%s\n", p.label, count, note, took)
}

// drawn is a bar that redraws its line. It is told when to write (pb.Static), so
// that the library starts no goroutine.
type drawn struct{ bar *pb.ProgressBar }

const (
	counted   pb.ProgressBarTemplate = `{{string . "label"}} {{counters . "%s/%s"}} {{bar . "[" "=" ">" " " "]"}} {{string . "note"}}{{string . "time"}}`
	uncounted pb.ProgressBarTemplate = `{{string . "label"}} {{counters .}} {{string . "note"}}{{string . "time"}}`
)

func newDrawn(w io.Writer, total int, label string) *drawn {
	tmpl := counted
	if total == 0 {
		tmpl = uncounted
	}
	bar := tmpl.New(total)
	bar.Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Set("label", label)
	bar.SetMaxWidth(120)
	bar.SetWriter(w)
	if bar.Width() <= 0 { // a terminal that does not know its size
		bar.SetWidth(80)
	}
	return &drawn{bar.Start()}
}

func (d *drawn) update(n, total int, note, took string, last bool) {
	if note != "" {
		note += "  "
	}
	d.bar.SetCurrent(int64(n)).Set("note", note).Set("time", took)
	if last {
		d.bar.Finish()
	}
	d.bar.Write()
}

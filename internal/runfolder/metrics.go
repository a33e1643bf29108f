package runfolder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"sagann/internal/regular"
)

// Epoch is one line of metrics.csv. A value that was not measured is NaN, and an empty cell in the
// file.
type Epoch struct {
	Epoch   int     // counted from 1
	Loss    float64 // training loss
	Train   float64 // accuracy, or whatever metric the run has, on the training vertices
	Val     float64 // on the validation vertices
	Test    float64 // on the test vertices
	Seconds float64 // wall time of the epoch
	H2D     int64   // bytes from host to device
	D2H     int64   // bytes from device to host
	Peak    int64   // most device bytes in use at once so far
	ValLoss float64 // loss on the validation vertices
}

// Headers of metrics.csv. Files of earlier versions have no column for the validation loss. A resumed run
// keeps the form of its file.
const (
	firstHeader = "epoch,loss,train,val,test,seconds,h2d_bytes,d2h_bytes,peak_bytes\n"
	header      = "epoch,loss,train,val,test,seconds,h2d_bytes,d2h_bytes,peak_bytes,val_loss\n"
)

// Metrics appends to metrics.csv.
type Metrics struct {
	f     *os.File
	last  int  // epoch of the last line, 0 when there is none
	first bool // the file has firstHeader
}

// OpenMetrics opens metrics.csv to continue after epoch resumed, 0 for a new run. It removes lines of later
// epochs, and a last line that a killed process did not
// finish. It is an error if a line up to that epoch cannot be read.
func (f *Folder) OpenMetrics(resumed int) (*Metrics, error) {
	path := f.Path(MetricsFile)
	text, err := regular.ReadFile(path, 1<<30)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	keep, end, err := parseMetrics(path, text, resumed)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	m := &Metrics{f: out, first: end > 0 && bytes.HasPrefix(text, []byte(firstHeader))}
	if err := m.begin(end); err != nil {
		out.Close()
		return nil, err
	}
	if len(keep) > 0 {
		m.last = keep[len(keep)-1].Epoch
	}
	return m, nil
}

// begin cuts the file to its first end bytes and continues there.
func (m *Metrics) begin(end int) error {
	if err := m.f.Truncate(int64(end)); err != nil {
		return err
	}
	if _, err := m.f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	if end == 0 {
		_, err := m.f.WriteString(header)
		return err
	}
	return nil
}

// Append writes the line of one epoch. It is not buffered, so that a killed process loses nothing.
// Epochs must come in ascending order.
func (m *Metrics) Append(e Epoch) error {
	if e.Epoch <= m.last {
		return fmt.Errorf("%s: epoch %d after epoch %d", m.f.Name(), e.Epoch, m.last)
	}
	m.last = e.Epoch
	b := strconv.AppendInt(nil, int64(e.Epoch), 10)
	number := func(x float64) {
		b = append(b, ',')
		if !math.IsNaN(x) {
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		}
	}
	for _, x := range []float64{e.Loss, e.Train, e.Val, e.Test, e.Seconds} {
		number(x)
	}
	for _, n := range []int64{e.H2D, e.D2H, e.Peak} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	if !m.first {
		number(e.ValLoss)
	}
	_, err := m.f.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (m *Metrics) Close() error { return m.f.Close() }

// ReadMetrics returns the lines of the metrics.csv in the run folder dir, without a
// last line that was not finished. An error names the line.
func ReadMetrics(dir string) ([]Epoch, error) {
	path := (&Folder{dir}).Path(MetricsFile)
	text, err := regular.ReadFile(path, 1<<30)
	if err != nil {
		return nil, err
	}
	list, _, err := parseMetrics(path, text, math.MaxInt)
	return list, err
}

// parseMetrics returns the epochs up to limit and the number of bytes that they
// and the header take.
func parseMetrics(path string, text []byte, limit int) (list []Epoch, end int, err error) {
	last, cells := 0, 0
	for n := 1; ; n++ {
		size := bytes.IndexByte(text[end:], '\n') + 1
		if size == 0 {
			return list, end, nil
		}
		line := string(text[end : end+size])
		if n == 1 {
			if line != header && line != firstHeader {
				return nil, 0, fmt.Errorf("%s:1: the header is not %q", path, strings.TrimSpace(header))
			}
			cells = strings.Count(line, ",") + 1
			end += size
			continue
		}
		e, err := parseEpoch(strings.TrimSuffix(line, "\n"), cells)
		if err == nil && e.Epoch <= last {
			err = fmt.Errorf("epoch %d after epoch %d", e.Epoch, last)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if e.Epoch > limit {
			return list, end, nil
		}
		last = e.Epoch
		list = append(list, e)
		end += size
	}
}

func parseEpoch(line string, want int) (Epoch, error) {
	cells := strings.Split(line, ",")
	if len(cells) != want {
		return Epoch{}, fmt.Errorf("%d cells, want %d", len(cells), want)
	}
	e := Epoch{ValLoss: math.NaN()}
	var err error
	if e.Epoch, err = strconv.Atoi(cells[0]); err != nil {
		return e, err
	}
	for i, x := range []*float64{&e.Loss, &e.Train, &e.Val, &e.Test, &e.Seconds} {
		if *x, err = measured(cells[1+i]); err != nil {
			return e, err
		}
	}
	for i, n := range []*int64{&e.H2D, &e.D2H, &e.Peak} {
		if *n, err = strconv.ParseInt(cells[6+i], 10, 64); err != nil {
			return e, err
		}
	}
	if len(cells) > 9 {
		e.ValLoss, err = measured(cells[9])
	}
	return e, err
}

// measured is the number of a cell, NaN of an empty one.
func measured(cell string) (float64, error) {
	if cell == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(cell, 64)
}

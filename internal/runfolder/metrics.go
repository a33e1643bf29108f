package runfolder

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

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

// Headers of metrics.csv. Files of earlier versions have no column for the validation loss, or for the checksum. A resumed run
// keeps the form of its file.
const (
	firstHeader  = "epoch,loss,train,val,test,seconds,h2d_bytes,d2h_bytes,peak_bytes\n"
	secondHeader = "epoch,loss,train,val,test,seconds,h2d_bytes,d2h_bytes,peak_bytes,val_loss\n"
	header       = "epoch,loss,train,val,test,seconds,h2d_bytes,d2h_bytes,peak_bytes,val_loss,crc32c\n"
)

// sumCells is the number of cells of a line with a checksum: that of all bytes of the file before it, in hexadecimal digits.
const sumCells = 11

// Metrics appends to metrics.csv.
type Metrics struct {
	f     *os.File
	last  int    // epoch of the last line, 0 when there is none
	cells int    // of a line
	sum   uint32 // of the file so far
	rest  []byte // of it, not written yet as the disk was full
}

// OpenMetrics opens metrics.csv to continue after epoch resumed, 0 for a new run. It removes lines of later
// epochs, and a last line that a killed process did not
// finish. It is an error if a line up to that epoch cannot be read, was changed, or is missing. A file that is not there, or is
// empty, is begun with the next epoch; missing is then true.
func (f *Folder) OpenMetrics(resumed int) (m *Metrics, missing bool, err error) {
	path := f.Path(MetricsFile)
	text, err := regular.ReadFile(path, 1<<30)
	if missing = errors.Is(err, fs.ErrNotExist); err != nil && !missing {
		return nil, false, err
	}
	keep, end, err := parseMetrics(path, text, resumed)
	if err != nil {
		return nil, false, err
	}
	if err := whole(path, keep, resumed); err != nil && !missing {
		return nil, false, err
	}
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, false, err
	}
	first, _, _ := bytes.Cut(text[:end], []byte("\n"))
	m = &Metrics{f: out, cells: bytes.Count(first, []byte(",")) + 1, sum: crc32.Checksum(text[:end], castagnoli)}
	if err := m.begin(end); err != nil {
		out.Close()
		return nil, false, err
	}
	if len(keep) > 0 {
		m.last = keep[len(keep)-1].Epoch
	}
	return m, missing && resumed > 0, nil
}

// whole is an error if list lacks epochs up to the last one that there must be.
func whole(path string, list []Epoch, last int) error {
	next := last + 1
	if len(list) > 0 {
		next = list[0].Epoch // a file that was begun later, as the first had been removed
	} else if last == 0 {
		return nil
	}
	for _, e := range list {
		if e.Epoch != next {
			return fmt.Errorf("%s: epochs %d to %d are missing: it was changed since it was written", path, next, e.Epoch-1)
		}
		next++
	}
	if len(list) == 0 || next <= last {
		return fmt.Errorf("%s: it has no line of epoch %d, which the checkpoint has: it was cut; without the file the run goes on, and a new one begins after that epoch", path, last)
	}
	return nil
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
		m.cells, m.sum = sumCells, crc32.Checksum([]byte(header), castagnoli)
		_, err := m.f.WriteString(header)
		return err
	}
	return nil
}

// Sync has all lines so far outlast a loss of power.
func (m *Metrics) Sync() error {
	if err := m.flush(); err != nil {
		return err
	}
	return m.f.Sync()
}

// flush writes what is not written yet.
func (m *Metrics) flush() error {
	n, err := m.f.Write(m.rest)
	m.rest = m.rest[n:]
	return err
}

// Append writes the line of one epoch. It is not buffered, so that a killed process loses nothing,
// unless the disk is full.
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
	if m.cells > 9 {
		number(e.ValLoss)
	}
	if m.cells == sumCells {
		b = append(b, ',')
		b = fmt.Appendf(b, "%08x", crc32.Update(m.sum, castagnoli, b))
	}
	b = append(b, '\n')
	m.sum = crc32.Update(m.sum, castagnoli, b)
	m.rest = append(m.rest, b...)
	if err := m.flush(); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return nil // Sync and Close tell of a disk that is still full then
}

// Close closes the file.
func (m *Metrics) Close() error { return errors.Join(m.flush(), m.f.Close()) }

// ReadMetrics returns the lines of the metrics.csv in the run folder dir, without a
// last line that was not finished. An error names the line.
func ReadMetrics(dir string) ([]Epoch, error) { return ReadMetricsTo(dir, 0) }

// ReadMetricsTo is ReadMetrics, and an error if the file has no line of an epoch that there must be.
func ReadMetricsTo(dir string, last int) ([]Epoch, error) {
	path := (&Folder{dir}).Path(MetricsFile)
	text, err := regular.ReadFile(path, 1<<30)
	if err != nil {
		return nil, err
	}
	list, _, err := parseMetrics(path, text, math.MaxInt)
	if err == nil {
		err = whole(path, list, last)
	}
	return list, err
}

// parseMetrics returns the epochs up to limit and the number of bytes that they
// and the header take.
func parseMetrics(path string, text []byte, limit int) (list []Epoch, end int, err error) {
	last, cells := 0, 0
	sum, summed := uint32(0), 0 // the checksum of so many bytes
	for n := 1; ; n++ {
		size := bytes.IndexByte(text[end:], '\n') + 1
		if size == 0 {
			return list, end, nil
		}
		line := string(text[end : end+size])
		if n == 1 {
			if line != header && line != secondHeader && line != firstHeader {
				return nil, 0, fmt.Errorf("%s:1: the header is not %q", path, strings.TrimSpace(header))
			}
			cells = strings.Count(line, ",") + 1
			end += size
			continue
		}
		e, err := parseEpoch(strings.TrimSuffix(line, "\n"), cells)
		if at := end + size - 9; err == nil && cells == sumCells {
			sum, summed = crc32.Update(sum, castagnoli, text[summed:at]), at
			if fmt.Sprintf("%08x", sum) != string(text[at:at+8]) {
				err = errors.New("the checksum is another one: the line, or one before it, was changed")
			}
		}
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
	if err == nil && want == sumCells && len(cells[10]) != 8 {
		err = fmt.Errorf("the checksum %q has not 8 digits", cells[10])
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

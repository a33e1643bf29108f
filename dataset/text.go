package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	maxLine = 16 << 20 // longest line of text that is read

	// A compressed text may be this many times larger than its file, plus a little.
	// This is enough for columns of equal labels, and stops files that are made to fill the memory.
	maxTextRatio = 256
	textSlack    = 16 << 20

	byteOrderMark = "\ufeff" // spreadsheets write it before the text
)

// textFile reads a file, plain or gzip, line by line. Its first bytes decide which,
// not the ending of the name.
type textFile struct {
	name string
	line int   // number of the line that next returned last, from 1
	size int64 // on disk

	file *os.File
	r    *bufio.Reader
	long []byte // a line that spans the buffer
}

// openText opens path, or path+".gz" when path does not exist.
func openText(path string) (*textFile, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && !strings.HasSuffix(path, ".gz") {
		if g, gzErr := os.Open(path + ".gz"); gzErr == nil {
			f, err, path = g, nil, path+".gz"
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t, err := newText(f, info.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.file = f
	return t, nil
}

// newText reads size bytes from r. Errors call it name.
func newText(r io.Reader, size int64, name string) (*textFile, error) {
	t := &textFile{name: name, size: size, r: bufio.NewReaderSize(r, 1<<18)}
	if head, _ := t.r.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(t.r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		limit := min(size, 1<<50)*maxTextRatio + textSlack
		t.r = bufio.NewReaderSize(&limited{z, limit}, 1<<18)
	}
	if head, _ := t.r.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		t.r.Discard(len(byteOrderMark)) // they are in the buffer
	}
	return t, nil
}

// limited is a reader that fails after n bytes. (io.LimitedReader would return io.EOF.)
type limited struct {
	r io.Reader
	n int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.n -= int64(n); l.n < 0 {
		return 0, errors.New("expands to many times its size: refused")
	}
	return n, err
}

func (t *textFile) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// next returns the next line without its end, valid until the following call,
// or io.EOF. Other errors name the file and line.
func (t *textFile) next() ([]byte, error) {
	line, err := t.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		t.long = t.long[:0]
		for err == bufio.ErrBufferFull && len(t.long) < maxLine {
			t.long = append(t.long, line...)
			line, err = t.r.ReadSlice('\n')
		}
		t.long = append(t.long, line...)
		line = t.long
	}
	t.line++
	if err == io.EOF && len(line) > 0 {
		err = nil // the last line has no newline
	}
	if err == bufio.ErrBufferFull {
		err = fmt.Errorf("longer than %d bytes", maxLine)
	}
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, t.errorf("%w", err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// errorf is an error at the line that was read last.
func (t *textFile) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", t.name, t.line, fmt.Errorf(format, args...))
}

// nextRow is the next line that is neither blank nor a comment (which begins with # or %),
// without blanks around it.
func (t *textFile) nextRow() ([]byte, error) {
	for {
		line, err := t.next()
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return line, nil
		}
	}
}

// eachLine calls fn for every row. The slice is valid during the call only.
func (t *textFile) eachLine(fn func(line []byte) error) error {
	for {
		line, err := t.nextRow()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}

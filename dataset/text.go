package dataset

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"sagann/internal/regular"
)

const (
	maxLine = 16 << 20 // longest line of text that is read

	// A compressed text may be this many times larger than its file, and this much beside. Columns of equal labels
	// shrink to less than a hundredth, but are short; files that are made to fill the memory are refused.
	maxTextRatio = 32
	textSlack    = 32 << 20

	byteOrderMark = "\ufeff" // spreadsheets write it before the text

	textBuffer = 1 << 18
	bzip2Mark  = "\x31\x41\x59\x26\x53\x59" // of the first block of a bzip2 file
)

// textFile reads a file, plain or packed by gzip or bzip2, in UTF-8 or UTF-16, line by line. Its first bytes decide which,
// not the ending of the name.
type textFile struct {
	name string
	line int   // number of the line that next returned last, from 1
	size int64 // on disk

	file    *os.File
	r       *bufio.Reader
	long    []byte // a line that spans the buffer
	end     byte   // of a line: a newline, or a carriage return if the text has no newline
	comment string // the first line, if it is a comment
}

// packedEndings are the endings of packed texts. A text is unpacked by its first bytes, whatever its name.
var packedEndings = []string{".gz", ".bz2"}

// plainName is a name without such an ending.
func plainName(name string) string {
	for _, packed := range packedEndings {
		if strings.HasSuffix(strings.ToLower(name), packed) {
			return name[:len(name)-len(packed)]
		}
	}
	return name
}

// openText opens path, or the packed file of that name when path does not exist.
func openText(path string) (*textFile, error) {
	f, size, err := regular.OpenSized(path)
	for _, packed := range packedEndings {
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
		if g, n, no := regular.OpenSized(path + packed); no == nil {
			f, size, err, path = g, n, nil, path+packed
		}
	}
	if err != nil {
		return nil, err
	}
	t, err := newText(f, size, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	t.file = f
	return t, nil
}

// newText reads size bytes from r. Errors call it name.
func newText(r io.Reader, size int64, name string) (*textFile, error) {
	t := &textFile{name: name, size: size, r: bufio.NewReaderSize(r, textBuffer), end: '\n'}
	unpack := func(z io.Reader) {
		t.r = bufio.NewReaderSize(&limited{z, min(size, 1<<50)*maxTextRatio + textSlack}, textBuffer)
	}
	if head, _ := t.r.Peek(10); strings.HasPrefix(string(head), "\x1f\x8b") {
		z, err := gzip.NewReader(t.r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		unpack(z)
	} else if len(head) == 10 && string(head[:3]) == "BZh" && string(head[4:]) == bzip2Mark {
		unpack(bzip2.NewReader(t.r))
	}
	if head, _ := t.r.Peek(6); len(head) > 3 {
		for what, magic := range map[string]string{"zip": "PK\x03\x04", "xz": "\xfd7zXZ", "zstd": "\x28\xb5\x2f\xfd", "7z": "7z\xbc\xaf\x27"} {
			if strings.HasPrefix(string(head), magic) {
				return nil, fmt.Errorf("%s: the file is packed by %s; unpack it, or pack it by gzip or bzip2", name, what)
			}
		}
	}
	switch head, _ := t.r.Peek(3); {
	case string(head) == byteOrderMark:
		t.r.Discard(len(byteOrderMark)) // they are in the buffer
	case len(head) > 1 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff):
		t.r.Discard(2)
		t.r = bufio.NewReaderSize(&utf16Text{r: t.r, big: head[0] == 0xfe}, textBuffer)
	}
	if head, _ := t.r.Peek(textBuffer); bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		t.end = '\r'
	}
	return t, nil
}

// utf16Text gives a text of 16-bit characters, as some programs write tables, as UTF-8.
type utf16Text struct {
	r    io.Reader
	big  bool
	in   [4096]byte
	have int // bytes of in that were read
	out  []byte
}

func (u *utf16Text) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		n, err := u.r.Read(u.in[u.have:])
		u.have += n
		if u.have < 2 || n == 0 && err != nil {
			if err == io.EOF && u.have > 0 {
				return 0, errors.New("a text of 16-bit characters ends inside of one")
			}
			if err != nil {
				return 0, err
			}
			continue
		}
		u.decode(err != nil)
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode decodes the characters of in. The first half of a pair waits for the other one, unless no more comes.
func (u *utf16Text) decode(last bool) {
	var units []uint16
	for i := 0; i+1 < u.have; i += 2 {
		lo, hi := u.in[i], u.in[i+1]
		if u.big {
			lo, hi = hi, lo
		}
		units = append(units, uint16(hi)<<8|uint16(lo))
	}
	if k := len(units) - 1; !last && utf16.IsSurrogate(rune(units[k])) && units[k] < 0xdc00 {
		units = units[:k]
	}
	u.out = append(u.out[:0], string(utf16.Decode(units))...)
	u.have = copy(u.in[:], u.in[2*len(units):u.have])
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
	line, err := t.r.ReadSlice(t.end)
	if err == bufio.ErrBufferFull {
		t.long = t.long[:0]
		for err == bufio.ErrBufferFull && len(t.long) < maxLine {
			t.long = append(t.long, line...)
			line, err = t.r.ReadSlice(t.end)
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
	if len(line) > 0 && line[len(line)-1] == t.end {
		line = line[:len(line)-1]
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if first := bytes.TrimLeft(line, blanks); len(first) > 0 && (first[0] == '#' || first[0] == '%') {
		return line, nil // a comment may be in any encoding; a table asks inUTF8 where it is none
	}
	return line, t.inUTF8(line)
}

// inUTF8 refuses a line that is no text in UTF-8. Names in another encoding would be other names wherever they are written, and
// two of them could become one.
func (t *textFile) inUTF8(line []byte) error {
	if utf8.Valid(line) {
		return nil
	}
	at := 0
	for r, n := utf8.DecodeRune(line); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(line[at:]) {
		at += n
	}
	return t.errorf("byte %d is %#x, which is not UTF-8: names are read as UTF-8 or UTF-16; of Latin-1, iconv -f ISO-8859-1 -t UTF-8 < OLD > NEW makes it", at+1, line[at])
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
		if t.line == 1 {
			t.comment = string(line)
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

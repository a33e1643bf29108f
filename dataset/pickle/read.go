package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxMarks bounds the nesting of a pickle.
const maxMarks = 64

// mark is the value that the instruction MARK pushes.
type mark struct{}

// machine is the stack machine that runs a pickle.
type machine struct {
	file  []byte
	at    int // the next byte
	stack []any
	marks []int // positions of the marks on the stack
	memo  map[int]any
	allow func(Class) bool
	ends  bool // STOP was read

	values, most int // values pushed and kept so far; the most

	encoded int // total length of the texts that _codecs.encode was called with
	scalars int // total length of the bytes of NumPy's scalars
}

// Read returns the object in the pickle at the beginning of file; size is the pickle's length in
// bytes. A class or function for which allow is false is an error, and so are values that hold themselves or nest
// more than 64 deep. Errors name the byte.
func Read(file []byte, allow func(Class) bool) (x any, size int, err error) {
	return ReadPacked(file, int64(len(file)), allow)
}

// spareValues is how many values a pickle may have beside one for each byte that it takes on disk. A value takes
// some 100 bytes of memory.
const spareValues = 1 << 20

// ReadPacked is Read of a pickle that takes so many bytes of a compressed file, which bound the number of its values.
func ReadPacked(file []byte, disk int64, allow func(Class) bool) (x any, size int, err error) {
	m := &machine{file: file, memo: map[int]any{}, allow: allow, most: int(min(disk, 1<<50)) + spareValues}
	for !m.ends {
		start := m.at
		if start >= len(file) {
			return nil, start, fmt.Errorf("byte %d: the pickle is cut off", start)
		}
		m.at++
		if err := m.step(file[start]); err != nil {
			return nil, start, fmt.Errorf("byte %d: pickle instruction 0x%02x: %w", start, file[start], err)
		}
	}
	if len(m.stack) != 1 || len(m.marks) != 0 {
		return nil, m.at, fmt.Errorf("byte %d: malformed pickle: %d values at its end", m.at-1, len(m.stack))
	}
	if err := check(m.stack[0]); err != nil {
		return nil, m.at, fmt.Errorf("byte %d: %w", m.at-1, err)
	}
	return m.stack[0], m.at, nil
}

// count counts a value.
func (m *machine) count() error {
	if m.values++; m.values > m.most {
		return fmt.Errorf("more than %d values, in a file of %d bytes: refused", m.most, m.most-spareValues)
	}
	return nil
}

var (
	errCut   = errors.New("the file ends inside its argument")
	errStack = errors.New("malformed pickle: a value is missing")
)

// take is the next n bytes.
func (m *machine) take(n uint64) ([]byte, error) {
	if left := uint64(len(m.file) - m.at); n > left {
		if n <= 8 {
			return nil, errCut
		}
		return nil, fmt.Errorf("%d bytes of data, %d are left", n, left)
	}
	b := m.file[m.at : m.at+int(n)]
	m.at += int(n)
	return b, nil
}

// number is the next n bytes as a number, little-endian.
func (m *machine) number(n int) (uint64, error) {
	b, err := m.take(uint64(n))
	if err != nil {
		return 0, err
	}
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:]), nil
}

// counted reads a length of n bytes and then so many bytes of data.
func (m *machine) counted(n int) (string, error) {
	size, err := m.number(n)
	if err != nil {
		return "", err
	}
	b, err := m.take(size)
	return string(b), err
}

func (m *machine) push(x any) error {
	if err := m.count(); err != nil {
		return err
	}
	m.stack = append(m.stack, x)
	return nil
}

// pop takes n values off the stack, down to the last mark at most.
func (m *machine) pop(n int) ([]any, error) {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1] + 1
	}
	if len(m.stack)-n < floor {
		return nil, errStack
	}
	at := len(m.stack) - n
	out := m.stack[at:]
	m.stack = m.stack[:at]
	return out, nil
}

// popMark takes the values above the last mark, and the mark, off the stack.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errors.New("malformed pickle: nests -1 marks")
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	out := append([]any(nil), m.stack[at+1:]...)
	m.stack = m.stack[:at]
	return out, nil
}

func (m *machine) top() (any, error) {
	if n := len(m.stack); n > 0 {
		if _, ok := m.stack[n-1].(mark); !ok {
			return m.stack[n-1], nil
		}
	}
	return nil, errStack
}

// put stores the top of the stack in the memo under a number.
func (m *machine) put(n uint64, err error) error {
	if err != nil {
		return err
	}
	x, err := m.top()
	if err == nil {
		err = m.count()
	}
	m.memo[int(n)] = x
	return err
}

// get pushes a value from the memo.
func (m *machine) get(n uint64, err error) error {
	if err != nil {
		return err
	}
	x, ok := m.memo[int(n)]
	if !ok {
		return fmt.Errorf("malformed pickle: nothing was kept as %d", n)
	}
	return m.push(x)
}

// class pushes the name of a class.
func (m *machine) class(module, name string) (Class, error) {
	c := Class{module, name}
	if !m.allow(c) {
		return c, fmt.Errorf("class %.80q is not allowed", c.String())
	}
	return c, nil
}

// made is the result of calling f with args. A few calls are done here, as the rest of a pickle depends on
// their values. Every other call becomes a Record.
func (m *machine) made(f any, args any) (any, error) {
	if made, ok := f.(*Record); ok { // an object that is called, as PyG's batches are made, is known by its class
		f = made.Class
	}
	c, ok := f.(Class)
	if !ok {
		return nil, fmt.Errorf("malformed pickle: a %s is called", Kind(f))
	}
	list, ok := args.(Tuple)
	if !ok {
		return nil, fmt.Errorf("malformed pickle: %s is called with a %s", c, Kind(args))
	}
	if isScalar(c) {
		if x, ok, err := m.scalar(list); ok || err != nil {
			return x, err
		}
	}
	switch c {
	case Class{"_codecs", "encode"}:
		text, ok := first(list).(string)
		if !ok || len(list) != 2 || list[1] != "latin1" {
			return nil, errLatin1
		}
		// Bound the work, as a text from the memo could be encoded again and again.
		if m.encoded += len(text); m.encoded > len(m.file) {
			return nil, errors.New("the pickle repeats long strings too often")
		}
		return Latin1(text)
	case Class{"__builtin__", "bytes"}, Class{"builtins", "bytes"}, Class{"builtins", "bytearray"}:
		text, _ := first(list).(string)
		return text, nil
	case Class{"__builtin__", "set"}, Class{"builtins", "set"}, Class{"builtins", "frozenset"}:
		items, _ := AsList(first(list))
		return &List{items}, nil
	case Class{"copy_reg", "_reconstructor"}, Class{"copyreg", "_reconstructor"}, Class{"copyreg", "__newobj__"}:
		if made, ok := first(list).(Class); ok {
			return &Record{Class: made}, nil
		}
		return nil, fmt.Errorf("malformed pickle: %s without a class", c)
	}
	return &Record{Class: c, Args: list}, nil
}

func first(list Tuple) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// build sets the state of the object on top of the stack.
func (m *machine) build() error {
	args, err := m.pop(1)
	if err != nil {
		return err
	}
	x, err := m.top()
	if err != nil {
		return err
	}
	switch x := x.(type) {
	case *Record:
		x.State = args[0]
	case *List, *Dict:
	default:
		return fmt.Errorf("malformed pickle: a %s takes no state", Kind(x))
	}
	return nil
}

// add appends items to the list, set or record on top of the stack.
func (m *machine) add(items []any, err error) error {
	if err != nil {
		return err
	}
	x, err := m.top()
	if err != nil {
		return err
	}
	switch x := x.(type) {
	case *List:
		x.Items = append(x.Items, items...)
	case *Record:
		x.Items = append(x.Items, items...)
	default:
		return fmt.Errorf("malformed pickle: a %s takes no items", Kind(x))
	}
	return nil
}

// set adds items, keys and values alternating, to the object on top of the stack.
func (m *machine) set(items []any, err error) error {
	if err != nil {
		return err
	}
	pairs, err := pairsOf(items)
	if err != nil {
		return err
	}
	x, err := m.top()
	if err != nil {
		return err
	}
	switch x := x.(type) {
	case *Dict:
		x.Pairs = append(x.Pairs, pairs...)
	case *Record:
		x.Pairs = append(x.Pairs, pairs...)
	default:
		return fmt.Errorf("malformed pickle: a %s takes no keys", Kind(x))
	}
	return nil
}

func pairsOf(items []any) ([]Pair, error) {
	if len(items)%2 != 0 {
		return nil, errors.New("malformed pickle: a key without a value")
	}
	pairs := make([]Pair, len(items)/2)
	for i := range pairs {
		pairs[i] = Pair{items[2*i], items[2*i+1]}
	}
	return pairs, nil
}

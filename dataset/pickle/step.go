package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// step runs one instruction, whose argument begins at m.at.
func (m *machine) step(code byte) error {
	if done, err := m.stepValue(code); done {
		return err
	}
	if done, err := m.stepText(code); done {
		return err
	}
	if done, err := m.stepMake(code); done {
		return err
	}
	switch code {
	case '(':
		if len(m.marks) == maxMarks {
			return fmt.Errorf("nests more than %d marks", maxMarks)
		}
		m.marks = append(m.marks, len(m.stack))
		return m.push(mark{})
	case '0':
		_, err := m.pop(1)
		return err
	case '1':
		_, err := m.popMark()
		return err
	case '2':
		x, err := m.top()
		if err != nil {
			return err
		}
		return m.push(x)
	case 'p':
		return m.put(m.line10())
	case 'q':
		return m.put(m.number(1))
	case 'r':
		return m.put(m.number(4))
	case '\x94':
		return m.put(uint64(len(m.memo)), nil)
	case 'g':
		return m.get(m.line10())
	case 'h':
		return m.get(m.number(1))
	case 'j':
		return m.get(m.number(4))
	case '\x80': // PROTO
		_, err := m.take(1)
		return err
	case '\x95': // FRAME: a hint for reading
		n, err := m.number(8)
		if left := uint64(len(m.file) - m.at); err == nil && n > left {
			err = fmt.Errorf("%d bytes of data, %d are left", n, left)
		}
		return err
	case '.':
		m.ends = true
		return nil
	}
	return errors.New("is not allowed")
}

// stepValue pushes numbers, truth values and None.
func (m *machine) stepValue(code byte) (bool, error) {
	switch code {
	case 'N':
		return true, m.push(nil)
	case '\x88', '\x89':
		return true, m.push(code == '\x88')
	case 'J':
		n, err := m.number(4)
		if err != nil {
			return true, err
		}
		return true, m.push(int(int32(n)))
	case 'K', 'M':
		n, err := m.number(map[byte]int{'K': 1, 'M': 2}[code])
		if err != nil {
			return true, err
		}
		return true, m.push(int(n))
	case 'G':
		b, err := m.take(8)
		if err != nil {
			return true, err
		}
		return true, m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case '\x8a': // LONG1
		text, err := m.counted(1)
		if err != nil {
			return true, err
		}
		if len(text) > 8 {
			return true, fmt.Errorf("a number of %d bytes", len(text))
		}
		var full [8]byte
		if n := len(text); n > 0 && text[n-1] >= 0x80 {
			full = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
		}
		copy(full[:], text)
		return true, m.push(int(binary.LittleEndian.Uint64(full[:])))
	case 'I', 'L', 'F':
		line, err := m.line()
		if err != nil {
			return true, err
		}
		x, err := parseNumber(code, line)
		if err != nil {
			return true, err
		}
		return true, m.push(x)
	}
	return false, nil
}

// stepMake makes containers and records.
func (m *machine) stepMake(code byte) (bool, error) {
	switch code {
	case ']', '\x8f':
		return true, m.push(&List{})
	case '}':
		return true, m.push(&Dict{})
	case ')':
		return true, m.push(Tuple{})
	case 'l', 't', 'd', '\x91':
		return true, m.gather(code)
	case '\x85', '\x86', '\x87':
		x, err := m.pop(int(code) - 0x84)
		if err != nil {
			return true, err
		}
		return true, m.push(Tuple(append([]any(nil), x...)))
	case 'a':
		return true, m.add(m.pop(1))
	case 'e', '\x90':
		return true, m.add(m.popMark())
	case 's':
		x, err := m.pop(2)
		return true, m.set(append([]any(nil), x...), err)
	case 'u':
		return true, m.set(m.popMark())
	case 'b':
		return true, m.build()
	case 'Q': // BINPERSID
		x, err := m.pop(1)
		if err != nil {
			return true, err
		}
		return true, m.push(Persistent{x[0]})
	case 'c', '\x93':
		return true, m.global(code)
	case 'R', '\x81':
		return true, m.call()
	case '\x92': // NEWOBJ_EX: class, arguments, named arguments
		if _, err := m.pop(1); err != nil {
			return true, err
		}
		return true, m.call()
	}
	return false, nil
}

// gather makes a list, tuple, dictionary or frozen set of the values above the mark.
func (m *machine) gather(code byte) error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	switch code {
	case 't':
		return m.push(Tuple(items))
	case 'd':
		pairs, err := pairsOf(items)
		if err != nil {
			return err
		}
		return m.push(&Dict{pairs})
	}
	return m.push(&List{items})
}

// global pushes a class. Its module and name are two lines of text or the top of the stack.
func (m *machine) global(code byte) error {
	var module, name string
	if code == 'c' {
		a, err := m.line()
		if err != nil {
			return err
		}
		b, err := m.line()
		if err != nil {
			return err
		}
		module, name = string(a), string(b)
	} else {
		x, err := m.pop(2)
		if err != nil {
			return err
		}
		var ok1, ok2 bool
		module, ok1 = x[0].(string)
		name, ok2 = x[1].(string)
		if !ok1 || !ok2 {
			return errors.New("malformed pickle: a class without a name")
		}
	}
	c, err := m.class(module, name)
	if err != nil {
		return err
	}
	return m.push(c)
}

// call replaces a class or function and its arguments by the result of the call.
func (m *machine) call() error {
	x, err := m.pop(2)
	if err != nil {
		return err
	}
	object, err := m.made(x[0], x[1])
	if err != nil {
		return err
	}
	return m.push(object)
}

package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// maxMarks bounds the nesting of a pickle, and with it the stacks of the reader.
const maxMarks = 64

// maxRepeat bounds how many times its size a pickle's strings take when those
// that are pushed again are counted again.
const maxRepeat = 64

// argument says what follows an opcode.
type argument int

const (
	argNone   argument = iota
	argByte            // 1 byte
	arg2               // 2 bytes
	arg4               // 4 bytes
	arg8               // 8 bytes
	argNumber          // a line with a number
	argQuoted          // a line with a Python string literal
	argText            // a line of text
	argClass           // two lines: module and name
	argData1           // 1 byte of length, then as many bytes
	argData4           // 4 bytes of length, then as many bytes
	argLong            // as argData1, a number
)

// opcode is what the scan has to know of an instruction: its argument and what it
// does to the number of open marks.
type opcode struct {
	arg   argument
	marks int
}

// pickleOpcodes are the instructions of protocols 0 to 2 (and bytes, of 3) that
// arrays, dictionaries and lists need; an instruction not listed is refused.
var pickleOpcodes = map[byte]opcode{
	'(': {argNone, 1}, '.': {}, '0': {}, '1': {argNone, -1}, '2': {},
	'F': {arg: argNumber}, 'I': {arg: argNumber}, 'L': {arg: argNumber},
	'J': {arg: arg4}, 'K': {arg: argByte}, 'M': {arg: arg2}, 'G': {arg: arg8}, 'N': {},
	'S': {arg: argQuoted}, 'T': {arg: argData4}, 'U': {arg: argData1},
	'V': {arg: argText}, 'X': {arg: argData4}, 'B': {arg: argData4}, 'C': {arg: argData1},
	'R': {}, 'b': {}, 'c': {arg: argClass}, '\x81': {},
	']': {}, 'l': {argNone, -1}, 'a': {}, 'e': {argNone, -1},
	'}': {}, 'd': {argNone, -1}, 's': {}, 'u': {argNone, -1},
	')': {}, 't': {argNone, -1}, '\x85': {}, '\x86': {}, '\x87': {},
	'g': {arg: argNumber}, 'h': {arg: argByte}, 'j': {arg: arg4},
	'p': {arg: argNumber}, 'q': {arg: argByte}, 'r': {arg: arg4},
	'\x80': {arg: argByte}, '\x88': {}, '\x89': {}, '\x8a': {arg: argLong},
}

// scanPickle checks the program in file without running it: every instruction is
// a known one, its argument lies in the file, every class is allowed, marks nest
// to a bounded depth. Errors name the byte. It returns the program with string
// literals (protocol 0) replaced by counted strings, because the reader does not
// undo their escapes.
func scanPickle(file []byte) ([]byte, error) {
	out := make([]byte, 0, len(file))
	marks, repeats, longest := 0, 0, 0
	for at := 0; at < len(file); {
		code := file[at]
		op, ok := pickleOpcodes[code]
		if !ok {
			return nil, fmt.Errorf("byte %d: pickle instruction 0x%02x is not allowed", at, code)
		}
		if marks += op.marks; marks < 0 || marks > maxMarks {
			return nil, fmt.Errorf("byte %d: pickle nests %d marks, want 0 to %d", at, marks, maxMarks)
		}
		arg, size, err := op.arg.read(file[at+1:])
		if err != nil {
			return nil, fmt.Errorf("byte %d: pickle instruction 0x%02x: %w", at, code, err)
		}
		switch code {
		case 'S', 'T', 'U', 'V', 'X', 'B', 'C':
			longest = max(longest, len(arg))
		case '2', 'g', 'h', 'j':
			repeats++
		}
		// Not even a message that spells out the stack may outgrow the file.
		if repeats*longest > maxRepeat*len(file)+1<<20 {
			return nil, fmt.Errorf("byte %d: the pickle repeats long strings too often", at)
		}
		switch op.arg {
		case argQuoted:
			out = append(out, 'T')
			out = binary.LittleEndian.AppendUint32(out, uint32(len(arg)))
			out = append(out, arg...)
		case argLong:
			if size == 1 { // zero, which the reader takes no empty number for
				out = append(out, 'K', 0)
				break
			}
			fallthrough
		default:
			out = append(out, file[at:at+1+size]...)
		}
		at += 1 + size
		if code == '.' {
			return out, nil
		}
	}
	return nil, fmt.Errorf("byte %d: the pickle is cut off", len(file))
}

// read returns the argument at the start of rest and the bytes it takes. For a
// quoted string the argument is what it stands for.
func (a argument) read(rest []byte) (arg []byte, size int, err error) {
	cut := fmt.Errorf("the file ends inside its argument")
	fixed := map[argument]int{argNone: 0, argByte: 1, arg2: 2, arg4: 4, arg8: 8}
	if n, ok := fixed[a]; ok {
		if len(rest) < n {
			return nil, 0, cut
		}
		return rest[:n], n, nil
	}
	switch a {
	case argData1, argLong, argData4:
		head := 1
		if a == argData4 {
			head = 4
		}
		if len(rest) < head {
			return nil, 0, cut
		}
		n := int64(rest[0])
		if a == argData4 {
			n = int64(binary.LittleEndian.Uint32(rest))
		}
		if n > int64(len(rest)-head) {
			return nil, 0, fmt.Errorf("%d bytes of data, %d are left", n, len(rest)-head)
		}
		if a == argLong && n > 8 {
			return nil, 0, fmt.Errorf("a number of %d bytes", n)
		}
		return rest[head : head+int(n)], head + int(n), nil
	}
	line, _, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return nil, 0, cut
	}
	size = len(line) + 1
	switch a {
	case argNumber:
		if len(line) > 32 {
			return nil, 0, fmt.Errorf("a number of %d characters", len(line))
		}
	case argQuoted:
		if line, err = unquote(line); err != nil {
			return nil, 0, err
		}
	case argClass:
		name, _, ok := bytes.Cut(rest[size:], []byte("\n"))
		if !ok {
			return nil, 0, cut
		}
		if _, ok := pickleClasses[string(line)+" "+string(name)]; !ok {
			return nil, 0, fmt.Errorf("class %.80q is not allowed", string(line)+"."+string(name))
		}
		size += len(name) + 1
	}
	return line, size, nil
}

// unquote undoes a string literal as Python 2's repr writes it.
func unquote(line []byte) ([]byte, error) {
	s := strings.TrimSpace(string(line))
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '\'' && s[0] != '"' {
		return nil, fmt.Errorf("a string without quotes")
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i == len(s) {
			return nil, fmt.Errorf("a string that ends in a backslash")
		}
		switch c := s[i]; c {
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case '\\', '\'', '"':
			out = append(out, c)
		case 'x':
			if i+2 >= len(s) {
				return nil, fmt.Errorf("an escape that is cut off")
			}
			b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return nil, fmt.Errorf("escape \\x%s", s[i+1:i+3])
			}
			out = append(out, byte(b))
			i += 2
		default:
			return nil, fmt.Errorf("escape \\%c", c)
		}
	}
	return out, nil
}

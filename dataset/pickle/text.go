package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxDigits bounds a number that is written as text.
const maxDigits = 32

func parseNumber(code byte, line []byte) (any, error) {
	if len(line) > maxDigits {
		return nil, fmt.Errorf("a number of %d characters", len(line))
	}
	text := string(line)
	switch {
	case code == 'F':
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return f, nil
	case code == 'I' && (text == "00" || text == "01"):
		return text == "01", nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "L"))
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number of 64 bits", text)
	}
	return n, nil
}

// line is the rest of the line, without its end.
func (m *machine) line() ([]byte, error) {
	line, _, ok := bytes.Cut(m.file[m.at:], []byte("\n"))
	if !ok {
		return nil, errCut
	}
	m.at += len(line) + 1
	return line, nil
}

// line10 reads a line with a decimal number that is not negative.
func (m *machine) line10() (uint64, error) {
	line, err := m.line()
	if err != nil {
		return 0, err
	}
	if len(line) > maxDigits {
		return 0, fmt.Errorf("a number of %d characters", len(line))
	}
	n, err := strconv.ParseUint(string(line), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", line)
	}
	return n, nil
}

// stepText pushes strings and bytes.
func (m *machine) stepText(code byte) (bool, error) {
	size, ok := map[byte]int{'T': 4, 'U': 1, 'X': 4, 'B': 4, 'C': 1, '\x8c': 1, '\x8d': 8, '\x8e': 8, '\x96': 8}[code]
	if ok {
		s, err := m.counted(size)
		if err != nil {
			return true, err
		}
		return true, m.push(s)
	}
	if code != 'S' && code != 'V' {
		return false, nil
	}
	line, err := m.line()
	if err == nil && code == 'S' {
		line, err = unquote(line)
	}
	if err != nil {
		return true, err
	}
	if code == 'V' {
		return true, m.push(rawUnicode(line))
	}
	return true, m.push(string(line))
}

// rawUnicode is the text that Python's raw-unicode-escape writes: a byte a character, and others as \uXXXX or \UXXXXXXXX.
func rawUnicode(line []byte) string {
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		if digits := map[byte]int{'u': 4, 'U': 8}[line[min(i+1, len(line)-1)]]; line[i] == '\\' && digits > 0 && i+2+digits <= len(line) {
			if c, err := strconv.ParseUint(string(line[i+2:i+2+digits]), 16, 31); err == nil {
				out.WriteRune(rune(c))
				i += 1 + digits
				continue
			}
		}
		out.WriteRune(rune(line[i]))
	}
	return out.String()
}

// unquote is the value of a string literal as Python 2's repr writes it.
func unquote(line []byte) ([]byte, error) {
	s := strings.TrimSpace(string(line))
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '\'' && s[0] != '"' {
		return nil, errors.New("a string without quotes")
	}
	s = s[1 : len(s)-1]
	plain := map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '\'': '\'', '"': '"'}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i == len(s) {
			return nil, errors.New("a string that ends in a backslash")
		}
		if c, ok := plain[s[i]]; ok {
			out = append(out, c)
			continue
		}
		if s[i] != 'x' {
			return nil, fmt.Errorf("escape \\%c", s[i])
		}
		if i+2 >= len(s) {
			return nil, errors.New("an escape that is cut off")
		}
		b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return nil, fmt.Errorf("escape \\x%s", s[i+1:i+3])
		}
		out = append(out, byte(b))
		i += 2
	}
	return out, nil
}

package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// parse fills Meta and tensors from the JSON header. It reads tokens, because json.Unmarshal would silently
// accept repeated keys, and keys that differ from a known one in case.
func (f *File) parse(header []byte) error {
	if len(header) == 0 || header[0] != '{' {
		return fmt.Errorf("byte 8: the header does not begin with '{'")
	}
	d := &decoder{json.NewDecoder(bytes.NewReader(header))}
	d.UseNumber()
	err := d.object(func(name string) error {
		if name == metadataKey {
			if f.Meta != nil {
				return fmt.Errorf("%s stands twice", metadataKey)
			}
			return f.parseMeta(d)
		}
		if _, twice := f.tensors[name]; twice {
			return fmt.Errorf("tensor %.100q stands twice", name)
		}
		t, err := d.tensor()
		if err != nil {
			return fmt.Errorf("tensor %.100q: %w", name, err)
		}
		t.Name = name
		f.tensors[name] = t
		return nil
	})
	if err != nil {
		return fmt.Errorf("byte %d: %w", 8+d.InputOffset(), err)
	}
	if rest := bytes.Trim(header[d.InputOffset():], " \t\r\n"); len(rest) != 0 {
		return fmt.Errorf("byte %d: text after the header", 8+d.InputOffset())
	}
	return nil
}

func (f *File) parseMeta(d *decoder) error {
	f.Meta = map[string]string{}
	return d.object(func(key string) error {
		if _, twice := f.Meta[key]; twice {
			return fmt.Errorf("metadata %.100q stands twice", key)
		}
		tok, err := d.next()
		if err != nil {
			return err
		}
		s, ok := tok.(string)
		if !ok {
			return fmt.Errorf("metadata %.100q is not a string", key)
		}
		f.Meta[key] = s
		return nil
	})
}

// decoder reads the few JSON shapes that a header may hold.
type decoder struct{ *json.Decoder }

// next returns the next token; the end of the text is an error.
func (d *decoder) next() (json.Token, error) {
	tok, err := d.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return tok, err
}

func (d *decoder) delim(want json.Delim) error {
	tok, err := d.next()
	if err != nil {
		return err
	}
	if tok != want {
		return fmt.Errorf("%.100v where %q is due", tok, want)
	}
	return nil
}

// object reads an object and calls member after each key, which reads the value.
func (d *decoder) object(member func(key string) error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.More() {
		tok, err := d.next()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return fmt.Errorf("%.100v where a key is due", tok)
		}
		if err := member(key); err != nil {
			return err
		}
	}
	return d.delim('}')
}

// counts reads an array of at most limit non-negative integers.
func (d *decoder) counts(limit int) ([]int64, error) {
	if err := d.delim('['); err != nil {
		return nil, err
	}
	list := []int64{}
	for d.More() {
		tok, err := d.next()
		if err != nil {
			return nil, err
		}
		num, ok := tok.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%.100v where a number is due", tok)
		}
		v, err := strconv.ParseInt(num.String(), 10, strconv.IntSize)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%.100s is not a length this machine can hold", num)
		}
		if list = append(list, v); len(list) > limit {
			return nil, fmt.Errorf("more than %d numbers", limit)
		}
	}
	return list, d.delim(']')
}

// tensor reads the description of one tensor and checks that type,
// shape and offsets agree. Begin is still the offset into the values.
func (d *decoder) tensor() (Info, error) {
	var t Info
	var offsets []int64
	seen := map[string]bool{}
	err := d.object(func(key string) error {
		if seen[key] {
			return fmt.Errorf("%.100q stands twice", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			tok, err := d.next()
			if err != nil {
				return err
			}
			s, ok := tok.(string)
			if t.DType = DType(s); !ok || t.DType.Size() == 0 {
				return fmt.Errorf("dtype %v is not supported", tok)
			}
			return nil
		case "shape":
			lengths, err := d.counts(maxRank)
			if err != nil {
				return fmt.Errorf("shape: %w", err)
			}
			t.Shape = make([]int, len(lengths))
			for i, v := range lengths {
				t.Shape[i] = int(v) // fits: counts parses at the size of an int
			}
			return nil
		case "data_offsets":
			var err error
			if offsets, err = d.counts(2); err != nil {
				return fmt.Errorf("data_offsets: %w", err)
			}
			return nil
		}
		return fmt.Errorf("unknown key %.100q", key)
	})
	if err != nil {
		return t, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return t, fmt.Errorf("no %.100q", key)
		}
	}
	if len(offsets) != 2 || offsets[0] > offsets[1] {
		return t, fmt.Errorf("data_offsets %v are not a beginning and an end", offsets)
	}
	size, err := byteSize(t.Shape, t.DType.Size())
	if err != nil {
		return t, err
	}
	t.Begin, t.Bytes = offsets[0], offsets[1]-offsets[0]
	if int64(size) != t.Bytes {
		return t, fmt.Errorf("%d bytes for shape %v of %s", t.Bytes, t.Shape, t.DType)
	}
	return t, nil
}

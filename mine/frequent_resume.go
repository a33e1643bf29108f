package mine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"sagann/mine/run"
)

// kept is a folder with the finished sizes of a search, a file each. A file appears as a whole or not at all. It has a heading
// that names the question and the graph, a line for each pattern, and a checksum.
type kept struct {
	dir, heading string
}

// keeper is the folder of a search, nil if it has none.
func (f *frequent) keeper() (*kept, error) {
	if f.Resume == "" {
		return nil, nil
	}
	if err := os.MkdirAll(f.Resume, 0o755); err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	return &kept{f.Resume, f.heading()}, nil
}

// heading tells searches apart.
func (f *frequent) heading() string {
	return fmt.Sprintf("frequent patterns 1: graph %016x, support %d, edges %d, vertices %d, by %s, induced %t, at least %t",
		f.digest(), f.Support, f.Edges, f.Vertices, f.By, f.Induced, f.AtLeast)
}

// digest tells graphs apart.
func (f *frequent) digest() uint64 {
	h := crc64.New(crc64.MakeTable(crc64.ECMA))
	w := bufio.NewWriterSize(h, 1<<16)
	r := f.g.byID
	for _, x := range []any{uint64(r.V()), r.Off, r.Col, r.Label, f.edgeKinds()} {
		_ = binary.Write(w, binary.LittleEndian, x) // a hash takes everything
	}
	_ = w.Flush()
	return h.Sum64()
}

func (k *kept) path(size int) string {
	return filepath.Join(k.dir, fmt.Sprintf("size-%02d.txt", size))
}

// save writes the patterns of a size.
func (k *kept) save(size int, found []FrequentPattern) (err error) {
	if k == nil {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", k.heading)
	for _, f := range found {
		fmt.Fprintf(&b, "%s\t%s\n", f.Pattern, f.Support)
	}
	fmt.Fprintf(&b, "%016x\n", crc64.Checksum(b.Bytes(), crc64.MakeTable(crc64.ECMA)))
	t, err := os.CreateTemp(k.dir, ".size-*")
	if err != nil {
		return fmt.Errorf("mine: %w", err)
	}
	_, err = t.Write(b.Bytes())
	err = errors.Join(err, t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), k.path(size))
	}
	if err != nil {
		return fmt.Errorf("mine: %w", errors.Join(err, os.Remove(t.Name())))
	}
	return nil
}

// load reads the sizes that are there, from 1 on, by size.
func (k *kept) load() (sizes [][]FrequentPattern, err error) {
	for k != nil {
		path := k.path(len(sizes) + 1)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("mine: %w", err)
		}
		found, err := k.parse(text)
		if err != nil {
			return nil, fmt.Errorf("mine: %s: %w", path, err)
		}
		sizes = append(sizes, found)
	}
	return sizes, nil
}

// parse reads the file of a size.
func (k *kept) parse(text []byte) (found []FrequentPattern, err error) {
	const sum = 17 // bytes of the last line
	if len(text) < sum || fmt.Sprintf("%016x\n", crc64.Checksum(text[:len(text)-sum], crc64.MakeTable(crc64.ECMA))) != string(text[len(text)-sum:]) {
		return nil, errors.New("the checksum is wrong; remove the file, and the search goes on from the size before")
	}
	lines := strings.Split(strings.TrimSuffix(string(text[:len(text)-sum]), "\n"), "\n")
	if lines[0] != k.heading {
		return nil, &QuestionError{fmt.Sprintf("the folder has another search, %q; this one is %q", lines[0], k.heading)}
	}
	for i, line := range lines[1:] {
		pattern, support, _ := strings.Cut(line, "\t")
		f := FrequentPattern{}
		if f.Pattern, err = ParsePattern(pattern); err == nil {
			n, ok := new(big.Int).SetString(support, 10)
			if !ok || n.Sign() < 0 {
				err = fmt.Errorf("%q is no support", support)
			} else {
				f.Support, err = run.FromBig(n)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		found = append(found, f)
	}
	return found, nil
}

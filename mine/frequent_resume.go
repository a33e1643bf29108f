package mine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sagann/internal/regular"
	"sagann/mine/run"
	"sagann/mine/table"
)

// kept is a folder with the finished sizes of a search, a file each, and what is counted of the next where instances are counted by tables. A file appears as a whole or not at all. It has a heading
// that names the question and the graph, a line for each pattern, and a checksum.
type kept struct {
	dir, heading string
}

// begun is how the names of files begin that are not whole.
const begun = ".size-"

// keeper makes the folder of a search.
func (f *frequent) keeper() (*kept, error) {
	if err := os.MkdirAll(f.Resume, 0o755); err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	left, _ := filepath.Glob(filepath.Join(f.Resume, begun+"*")) // of a search that was killed
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("mine: %w", err)
		}
	}
	return &kept{f.Resume, f.heading()}, nil
}

// heading tells searches apart.
func (f *frequent) heading() string {
	by := string(f.By)
	switch {
	case f.By == MNI:
	case f.tables():
		by += " in tables"
	default:
		by += " by the census"
	}
	return fmt.Sprintf("frequent patterns 1: graph %016x, support %d, edges %d, vertices %d, by %s, induced %t, at least %t",
		f.digest(), f.Support, f.Edges, f.Vertices, by, f.Induced, f.AtLeast)
}

// begin is the folder, and the sizes that are kept there. Of several ranks the first has the folder, and all have the sizes.
func (f *frequent) begin() (keep *kept, sizes [][]FrequentPattern, err error) {
	if f.Resume == "" {
		return nil, nil, nil
	}
	var texts []string
	first := f.peers == nil || f.peers.Rank() == 0
	if first {
		if keep, err = f.keeper(); err == nil {
			texts, err = keep.texts()
		}
	}
	if f.peers != nil {
		all, err := f.peers.Gather("the folder of a search", []byte(strings.Join(texts, "\x00")), err)
		if err != nil {
			return nil, nil, err
		}
		if texts = nil; len(all[0]) > 0 {
			texts = strings.Split(string(all[0]), "\x00")
		}
	}
	if err != nil {
		return nil, nil, err
	}
	k := &kept{f.Resume, f.heading()}
	for i, text := range texts {
		found, _, err := k.parse([]byte(text), "")
		if err != nil {
			return nil, nil, fmt.Errorf("mine: %s: %w", k.path(i+1), err)
		}
		sizes = append(sizes, found)
	}
	return keep, sizes, nil
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

// mostKept is how many bytes the file of a size may have.
const mostKept = 1 << 30

func (k *kept) path(size int) string {
	return filepath.Join(k.dir, fmt.Sprintf("size-%02d.txt", size))
}

// partPath is the file with what is counted so far of a size.
func (k *kept) partPath(size int) string {
	return filepath.Join(k.dir, fmt.Sprintf("part-%02d.txt", size))
}

// save writes the patterns of a size.
func (k *kept) save(size int, found []FrequentPattern) (err error) {
	if k == nil {
		return nil
	}
	err = k.write(k.path(size), k.heading, func(add func(p Pattern, n Total)) {
		for _, f := range found {
			add(f.Pattern, f.Support)
		}
	})
	if err == nil {
		if err = os.Remove(k.partPath(size)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// savePart writes what is counted of a size in rows whose first vertex comes before end.
func (k *kept) savePart(size, end int, counts map[Pattern]Total) error {
	return k.write(k.partPath(size), k.partHeading(end), func(add func(p Pattern, n Total)) {
		for p, n := range counts {
			add(p, n)
		}
	})
}

func (k *kept) partHeading(end int) string {
	return fmt.Sprintf("%s, before vertex %d", k.heading, end)
}

// write writes a file, as a whole or not at all.
func (k *kept) write(path, heading string, each func(add func(p Pattern, n Total))) (err error) {
	t, err := os.CreateTemp(k.dir, begun+"*")
	if err != nil {
		return fmt.Errorf("mine: %w", err)
	}
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	w := bufio.NewWriterSize(io.MultiWriter(t, sum), 1<<16)
	fmt.Fprintf(w, "%s\n", heading)
	each(func(p Pattern, n Total) { fmt.Fprintf(w, "%s\t%s\n", p, n) })
	if err = w.Flush(); err == nil {
		_, err = fmt.Fprintf(t, "%016x\n", sum.Sum64())
	}
	err = errors.Join(err, t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("mine: %w", errors.Join(err, os.Remove(t.Name())))
	}
	return nil
}

// texts are the files of the sizes that are there, from 1 on.
func (k *kept) texts() (texts []string, err error) {
	for {
		text, err := regular.ReadFile(k.path(len(texts)+1), mostKept)
		if errors.Is(err, fs.ErrNotExist) {
			return texts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("mine: %w", err)
		}
		texts = append(texts, string(text))
	}
}

// loadPart reads what is counted of a size; nothing, if nothing is there.
func (k *kept) loadPart(size int) (part table.Part, counted []FrequentPattern, err error) {
	path := k.partPath(size)
	text, err := regular.ReadFile(path, mostKept)
	if errors.Is(err, fs.ErrNotExist) {
		return part, nil, nil
	}
	var end string
	if err == nil {
		counted, end, err = k.parse(text, ", before vertex ")
	}
	if err == nil {
		if part.From, err = strconv.Atoi(end); err == nil && part.From < 0 {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return part, nil, fmt.Errorf("mine: %s: %w", path, err)
	}
	return part, counted, nil
}

// parse reads the text of a file.
func (k *kept) parse(text []byte, more string) (found []FrequentPattern, rest string, err error) {
	const sum = 17 // bytes of the last line
	if len(text) < sum || fmt.Sprintf("%016x\n", crc64.Checksum(text[:len(text)-sum], crc64.MakeTable(crc64.ECMA))) != string(text[len(text)-sum:]) {
		return nil, "", errors.New("the checksum is wrong; remove the file, and the search goes on from the size before")
	}
	lines := strings.Split(strings.TrimSuffix(string(text[:len(text)-sum]), "\n"), "\n")
	rest, ok := strings.CutPrefix(lines[0], k.heading+more)
	if !ok || more == "" && rest != "" {
		return nil, "", &QuestionError{fmt.Sprintf("the folder has another search, %q; this one is %q", lines[0], k.heading)}
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
			return nil, "", fmt.Errorf("line %d: %w", i+2, err)
		}
		found = append(found, f)
	}
	return found, rest, nil
}

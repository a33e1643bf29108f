package chunk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func fullFile(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "g")
	if err := full().write(path, 100); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openBytes(b []byte) (*Store, error) { return NewStore(bytes.NewReader(b), int64(len(b))) }

func TestStoreTruncated(t *testing.T) {
	file := fullFile(t)
	s, err := openBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	cuts := []int64{0, 1, 7, 100, headerBytes - 1, headerBytes, s.h.TableOff, s.h.FileBytes - 1}
	for _, b := range s.Blocks() {
		cuts = append(cuts, b.Off, b.Off+1, b.Off+b.Len-1, b.Off+b.Len)
	}
	for _, n := range cuts {
		if _, err := openBytes(file[:n]); err == nil {
			t.Errorf("a store cut to %d of %d bytes opens", n, len(file))
		}
	}
	if _, err := openBytes(append(file[:len(file):len(file)], 0)); err == nil {
		t.Error("a store with a byte appended opens")
	}
}

// TestStoreFlippedBit flips one bit in every block: Verify names the block and
// its offset, reading everything fails.
func TestStoreFlippedBit(t *testing.T) {
	file := fullFile(t)
	s, _ := openBytes(file)
	for _, b := range s.Blocks() {
		for _, at := range []int64{b.Off, b.Off + b.Len/2, b.Off + b.Len - 1} {
			bad := bytes.Clone(file)
			bad[at] ^= 1 << (at % 8)
			s, err := openBytes(bad)
			if err != nil {
				t.Fatalf("%v, byte %d: %v", b, at, err)
			}
			if err := s.Verify(); err == nil || !strings.Contains(err.Error(), b.String()) || !strings.Contains(err.Error(), fmt.Sprintf("byte %d", b.Off)) {
				t.Errorf("%v, byte %d: Verify says %v", b, at, err)
			}
			if _, err := read(s); err == nil {
				t.Errorf("%v, byte %d: all is read without error", b, at)
			}
		}
	}
}

// TestStoreEveryByte flips a bit of each byte that is no block's: header, table
// and padding. Open or Verify must notice.
func TestStoreEveryByte(t *testing.T) {
	file := fullFile(t)
	s, _ := openBytes(file)
	inBlock := make([]bool, len(file))
	for _, b := range s.Blocks() {
		for i := b.Off; i < b.Off+b.Len; i++ {
			inBlock[i] = true
		}
	}
	for at, skip := range inBlock {
		if skip || at%7 != 0 && at > 256 && int64(at) < s.h.TableOff {
			continue
		}
		file[at] ^= 0x10
		s, err := openBytes(file)
		if err == nil {
			err = s.Verify()
		}
		if err == nil {
			t.Errorf("a flipped bit in byte %d goes unnoticed", at)
		}
		file[at] ^= 0x10
	}
}

// TestStoreHostileHeader writes wrong counts under a right checksum. Nothing may
// be allocated from them.
func TestStoreHostileHeader(t *testing.T) {
	file := fullFile(t)
	good, _ := openBytes(file)
	names := []string{"V", "E", "Base", "Flags", "Types", "DataCols", "FeatureCols", "BlockRows", "Classes", "Graphs", "Blocks", "TableOff", "TableCRC", "FileBytes", "FeatureType"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, f := range good.h.fields() {
		for _, v := range []int64{-1, 0, 1, 2, *f - 1, *f + 1, *f * 2, *f + 1<<20, 1 << 31, 1 << 32, 1 << 40, 1 << 60, 1<<60 + *f, 1 << 62, math.MaxInt64, math.MinInt64} {
			if v == *f {
				continue
			}
			h := good.h
			*h.fields()[i] = v
			bad := append(h.encode(), file[headerBytes:]...)
			s, err := openBytes(bad)
			if err == nil {
				_, err = read(s)
			}
			// More types than edges use are legal; the rest contradicts the blocks.
			if err == nil && names[i] != "Types" {
				t.Errorf("%s = %d instead of %d is accepted", names[i], v, *f)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<30 {
		t.Errorf("%d bytes were allocated for hostile headers", got)
	}
	if _, err := openBytes(bytes.Repeat([]byte{0xff}, 9000)); err == nil {
		t.Error("noise opens")
	}
}

// TestStoreHostileTable changes fields of block table entries under right
// checksums.
func TestStoreHostileTable(t *testing.T) {
	file := fullFile(t)
	good, _ := openBytes(file)
	for i := range good.blocks {
		for field := 0; field < blockBytes; field += 4 {
			for _, v := range []uint32{0, 1, 2, 7, 13, 14, 4096, uint32(kindEnd), 1 << 30, math.MaxUint32} {
				bad := bytes.Clone(file)
				entry := bad[int(good.h.TableOff)+i*blockBytes:]
				if binary.LittleEndian.Uint32(entry[field:]) == v {
					continue
				}
				binary.LittleEndian.PutUint32(entry[field:], v)
				h := good.h
				h.TableCRC = int64(checksum(bad[h.TableOff:]))
				copy(bad, h.encode())
				s, err := openBytes(bad)
				if err == nil {
					err = s.Verify()
				}
				// Kinds of one shape may stand for each other; both readings are valid.
				if err == nil && field != 0 {
					t.Errorf("%v: %d in byte %d of the table entry is accepted", good.blocks[i], v, field)
				}
			}
		}
	}
}

// TestStoreWrongCell: ids, cells and types that checksums bless are still checked.
func TestStoreWrongCell(t *testing.T) {
	file := fullFile(t)
	good, _ := openBytes(file)
	for _, tc := range []struct {
		kind  Kind
		at    int64 // byte of the block
		value uint32
		want  string
	}{
		{KindEdges, 0, 90, "edge 0 goes from 90"},
		{KindEdges, 0, math.MaxUint32, "edge 0"},
		{KindTrain, 0, 90, "entry 0 is 90"},
		{KindLabels, 8, 4, "entry 2 has class 4"},
		{KindMultiLabels, 0, 2, "byte 0 is 2"},
		{KindOrder, 0, 1000, "vertex 0"},
		{KindGraphOf, 4, 3, "graph 3 of 3"},
		{KindFeatures, 4, 0x7fc00000, "feature 1 = NaN"},
		{KindSequence, 0, 0xffffffff, "cell 255"},
		{KindVertexNames, 0, 1 << 31, "name of vertex 0"},
	} {
		bad := bytes.Clone(file)
		for i, b := range good.blocks {
			if b.Kind != tc.kind {
				continue
			}
			binary.LittleEndian.PutUint32(bad[b.Off+tc.at:], tc.value)
			b.CRC = checksum(bad[b.Off : b.Off+b.Len])
			b.encode(bad[int(good.h.TableOff)+i*blockBytes:])
			break
		}
		h := good.h
		h.TableCRC = int64(checksum(bad[h.TableOff:]))
		copy(bad, h.encode())
		s, err := openBytes(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: Verify says %v, want %q", tc.kind, err, tc.want)
		}
		if _, err := read(s); err == nil {
			t.Errorf("%v: all is read", tc.kind)
		}
	}
}

func FuzzOpen(f *testing.F) {
	file := fullFile(f)
	f.Add(file[:headerBytes], file[headerBytes:], false)
	f.Add(file[:headerBytes], file[headerBytes:], true)
	f.Add([]byte("sagaNN\r\n"), []byte{}, true)
	// With fix the checksums of header and table are made right, so that the
	// checks behind them are reached.
	f.Fuzz(func(t *testing.T, head, rest []byte, fix bool) {
		page := make([]byte, headerBytes)
		copy(page, head)
		b := append(page, rest...)
		if fix {
			var h header
			for i, p := range h.fields() {
				*p = int64(binary.LittleEndian.Uint64(b[16+8*i:]))
			}
			h.FileBytes = int64(len(b))
			if h.TableOff >= 0 && h.TableOff <= int64(len(b)) {
				h.TableCRC = int64(checksum(b[h.TableOff:]))
			}
			copy(b, h.encode())
		}
		s, err := openBytes(b)
		if err != nil {
			return
		}
		s.Verify()
		read(s)
	})
}

package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The header is the first page of a store:
//
//	0     magic, 8 bytes
//	8     version, uint32; 4 bytes zero
//	16    the fields, int64 each
//	4092  CRC-32C of all bytes before it
//
// Bytes between are zero. Fields after FileBytes came with version 3; they are zero in older stores.
const (
	headerBytes  = BlockAlign
	storeVersion = 3 // the newest version; a store is written as the oldest version that has all its kinds of blocks
)

var storeMagic = []byte("sagaNN\r\n") // a file transfer in text mode changes the line end

// Limits of what a header may claim, beside the size of the file.
const (
	MaxBase        = 256     // intervals of a store's base grid
	MaxFeatureCols = 1 << 24 // width of the features
	maxBlockBytes  = 1 << 30 // of one features block
)

// Flags of a header.
const (
	flagWeights int64 = 1 << iota
	flagSequence
	flagsEnd
)

type header struct {
	version uint32

	V, E        int64
	Base        int64 // intervals of the base grid
	Flags       int64
	Types       int64
	DataCols    int64
	FeatureCols int64
	BlockRows   int64 // feature rows of a block; the last may have fewer
	Classes     int64
	Graphs      int64 // labelled graphs
	Blocks      int64 // entries of the block table
	TableOff    int64
	TableCRC    int64
	FileBytes   int64
	FeatureType int64 // of the numbers of the features; 0 is float32, and there is no other yet
}

// fields lists the header's fields in file order.
func (h *header) fields() []*int64 {
	return []*int64{&h.V, &h.E, &h.Base, &h.Flags, &h.Types, &h.DataCols, &h.FeatureCols, &h.BlockRows,
		&h.Classes, &h.Graphs, &h.Blocks, &h.TableOff, &h.TableCRC, &h.FileBytes, &h.FeatureType}
}

func (h *header) encode() []byte {
	page := make([]byte, headerBytes)
	copy(page, storeMagic)
	binary.LittleEndian.PutUint32(page[8:], h.version)
	for i, f := range h.fields() {
		binary.LittleEndian.PutUint64(page[16+8*i:], uint64(*f))
	}
	binary.LittleEndian.PutUint32(page[headerBytes-4:], checksum(page[:headerBytes-4]))
	return page
}

func decodeHeader(page []byte) (header, error) {
	var h header
	if !bytes.Equal(page[:8], storeMagic) {
		return h, errors.New("not a graph store: byte 0 starts no magic number")
	}
	if h.version = binary.LittleEndian.Uint32(page[8:]); h.version < 1 || h.version > storeVersion {
		return h, fmt.Errorf("store of version %d at byte 8, this program reads versions 1 to %d", h.version, storeVersion)
	}
	want := binary.LittleEndian.Uint32(page[headerBytes-4:])
	if got := checksum(page[:headerBytes-4]); got != want {
		return h, fmt.Errorf("header at byte 0 is damaged: checksum %08x, should be %08x", got, want)
	}
	for i, f := range h.fields() {
		*f = int64(binary.LittleEndian.Uint64(page[16+8*i:]))
	}
	return h, nil
}

// check refuses a header whose counts do not fit into a file of size bytes.
// After it, products of the counts cannot overflow, and every count that memory
// is allocated from is covered by bytes of the file.
func (h *header) check(size int64) error {
	if h.FileBytes != size {
		return fmt.Errorf("store of %d bytes is %d bytes long: truncated, or something was appended", h.FileBytes, size)
	}
	if h.FeatureType != 0 {
		return fmt.Errorf("header claims features of type %d; this program reads float32, type 0", h.FeatureType)
	}
	for _, f := range []struct {
		name        string
		n, min, max int64
	}{
		{"vertices", h.V, 0, MaxVertices},
		{"base intervals", h.Base, 1, MaxBase},
		{"flags", h.Flags, 0, flagsEnd - 1},
		{"edge types", h.Types, 0, MaxVertices},
		{"edge data columns", h.DataCols, 0, MaxDataCols},
		{"feature columns", h.FeatureCols, 0, MaxFeatureCols},
		{"rows of a features block", h.BlockRows, 0, maxBlockBytes},
		{"classes", h.Classes, 0, math.MaxInt32},
		{"graphs", h.Graphs, 0, size / 4},
		{"blocks", h.Blocks, 0, size / blockBytes},
		{"edges", h.E, 0, size / h.edgeBytes()},
	} {
		if f.n < f.min || f.n > f.max {
			return fmt.Errorf("header claims %d %s, a file of %d bytes has %d to %d", f.n, f.name, size, f.min, f.max)
		}
	}
	if h.FeatureCols > 0 {
		if h.V > size/4/h.FeatureCols {
			return fmt.Errorf("header claims %d×%d features in a file of %d bytes", h.V, h.FeatureCols, size)
		}
		if h.BlockRows < 1 || h.BlockRows*h.FeatureCols > maxBlockBytes/4 {
			return fmt.Errorf("header claims features blocks of %d rows of %d columns", h.BlockRows, h.FeatureCols)
		}
	}
	if h.TableOff < headerBytes || h.TableOff%BlockAlign != 0 || h.TableOff != size-h.Blocks*blockBytes {
		return fmt.Errorf("header puts the table of %d blocks at byte %d of %d", h.Blocks, h.TableOff, size)
	}
	return nil
}

// edgeWords is the number of 4-byte values of a stored edge: source,
// destination, then weight, type and data where there are any.
func (h *header) edgeWords() int64 {
	n := 2 + min(max(h.DataCols, 0), MaxDataCols)
	if h.Flags&flagWeights != 0 {
		n++
	}
	if h.Types > 0 {
		n++
	}
	return n
}

func (h *header) edgeBytes() int64 { return 4 * h.edgeWords() }

// seqBytes is the size of an entry of the sequence.
func (h *header) seqBytes() int64 {
	if h.Base > 16 {
		return 2
	}
	return 1
}

package chunk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unsafe"
)

// BlockAlign is the alignment in bytes of every block of a store: reads are
// whole pages, and direct I/O stays possible.
const BlockAlign = 4096

// Kind says what a block of a store holds.
type Kind uint32

// The kinds of blocks. I and J of a block are zero unless stated.
const (
	KindEdges         Kind = 1 + iota // edges of cell (I = destination interval, J = source interval); a large cell has several blocks in a row
	KindSequence                      // cell of each edge in appended order, part I: one byte an edge, two when Base > 16
	KindFeatures                      // float32 rows, part I
	KindLabels                        // int32 × V
	KindMultiLabels                   // byte × V×Classes: 0, 1, or 255 where it is not known
	KindTrain                         // uint32 vertex ids
	KindVal                           // uint32 vertex ids
	KindTest                          // uint32 vertex ids
	KindOrder                         // uint32 × V: new id of each vertex
	KindName                          // name of the graph, UTF-8
	KindVertexNames                   // V lengths as uint32, then the names
	KindGraphOf                       // uint32 × V: graph of each vertex
	KindGraphLabels                   // int32 × graphs
	KindNotes                         // how the graph was made, UTF-8
	KindTargets                       // columns as uint32, then float32 × V × columns
	KindGraphTargets                  // columns as uint32, then float32 × graphs × columns
	KindSparseRows                    // columns as uint32, then entries of each row as uint32 × V
	KindSparseColumns                 // uint32 × entries
	KindSparseValues                  // float32 × entries

	// Kinds since version 2. Those of edges are in appended order.
	KindEdgeLabels  // int32 × E
	KindEdgeTargets // columns as uint32, then float32 × E × columns
	KindGraphTrain  // uint32 graph numbers
	KindGraphVal    // uint32 graph numbers
	KindGraphTest   // uint32 graph numbers
	KindEdgeTrain   // uint32 edge numbers
	KindEdgeVal     // uint32 edge numbers
	KindEdgeTest    // uint32 edge numbers

	// Kinds since version 3.
	KindSchema    // what the numbers mean, as JSON: see dataset.Schema
	KindGraphSets // columns as uint32, then byte × graphs × columns, as KindMultiLabels
	KindEdgeSets  // columns as uint32, then byte × E × columns, as KindMultiLabels

	// Pairs of vertices: uint32 × pairs, the first vertices, then as many second ones.
	KindLinkTrain    // edges to predict
	KindLinkVal      // edges to predict
	KindLinkTest     // edges to predict
	KindLinkNotVal   // pairs without an edge
	KindLinkNotTest  // pairs without an edge
	KindLinkMessages // edges that pass messages in training
	KindPart         // a whole store, part I: see Parts. The checksum is of its header
	KindEdgeTimes    // float64 × E, in appended order
	KindVertexTimes  // float64 × V
	kindEnd
)

// optionalKind is the first of the kinds that a program may leave out if it does not know them, since version 3.
// A store with another kind that the program does not know is refused.
const optionalKind Kind = 1 << 16

// version is the oldest version of stores that has blocks of the kind.
func (k Kind) version() uint32 {
	switch {
	case k >= KindSchema:
		return 3
	case k >= KindEdgeLabels:
		return 2
	}
	return 1
}

var kindNames = [...]string{"", "edges", "sequence", "features", "labels", "multi-labels", "train", "val", "test",
	"order", "name", "vertex names", "graph-of", "graph labels", "notes",
	"targets", "graph targets", "sparse feature rows", "sparse feature columns", "sparse feature values",
	"edge labels", "edge targets", "graph train", "graph val", "graph test", "edge train", "edge val", "edge test", "schema", "graph multi-labels", "edge multi-labels",
	"link train", "link val", "link test", "link non-edges of val", "link non-edges of test", "link messages", "part", "edge times", "vertex times"}

// String is the kind as text for errors.
func (k Kind) String() string {
	if k == 0 || k >= kindEnd {
		return fmt.Sprintf("kind %d", uint32(k))
	}
	return kindNames[k]
}

// Block is an entry of a store's block table.
type Block struct {
	Kind     Kind
	I, J     uint32 // position, by kind
	CRC      uint32 // CRC-32C of the bytes
	Off, Len int64  // where the bytes lie in the file
}

// String names the block and its byte offset, for errors.
func (b Block) String() string {
	switch b.Kind {
	case KindEdges:
		return fmt.Sprintf("edges block (%d,%d) at byte %d", b.I, b.J, b.Off)
	case KindSequence, KindFeatures, KindPart:
		return fmt.Sprintf("%v block %d at byte %d", b.Kind, b.I, b.Off)
	}
	return fmt.Sprintf("%v block at byte %d", b.Kind, b.Off)
}

// blockBytes is the size of a table entry.
const blockBytes = 32

func (b Block) encode(dst []byte) {
	le := binary.LittleEndian
	le.PutUint32(dst[0:], uint32(b.Kind))
	le.PutUint32(dst[4:], b.I)
	le.PutUint32(dst[8:], b.J)
	le.PutUint32(dst[12:], b.CRC)
	le.PutUint64(dst[16:], uint64(b.Off))
	le.PutUint64(dst[24:], uint64(b.Len))
}

func decodeBlock(src []byte) Block {
	le := binary.LittleEndian
	return Block{
		Kind: Kind(le.Uint32(src[0:])),
		I:    le.Uint32(src[4:]),
		J:    le.Uint32(src[8:]),
		CRC:  le.Uint32(src[12:]),
		Off:  int64(le.Uint64(src[16:])),
		Len:  int64(le.Uint64(src[24:])),
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func updateChecksum(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

func blockAlign(n int64) int64 { return (n + BlockAlign - 1) &^ (BlockAlign - 1) }

// bytesOf is the memory of s, in the host's byte order.
func bytesOf[T uint16 | uint32 | int32 | float32](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// littleEndian says whether the host's byte order is that of the file format.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

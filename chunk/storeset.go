package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

func float32bits(x float32) uint32 { return math.Float32bits(x) }

// AppendFeatures appends the features of the next vertices in user order: rows ×
// FeatureCols finite values, row-major. Close fails unless all V rows were appended.
func (w *Writer) AppendFeatures(rows []float32) error {
	if err := w.ready(); err != nil {
		return err
	}
	cols := w.meta.FeatureCols
	if cols == 0 && len(rows) > 0 || cols > 0 && len(rows)%cols != 0 {
		return w.fail(fmt.Errorf("%d feature values do not make rows of %d", len(rows), cols))
	}
	if cols == 0 {
		return nil
	}
	if n := len(rows) / cols; n > w.meta.V-w.rows {
		return w.fail(fmt.Errorf("%d feature rows for %d vertices", w.rows+n, w.meta.V))
	}
	if k := NotFinite(rows); k >= 0 {
		return w.fail(fmt.Errorf("vertex %d has feature %d = %v", w.rows+k/cols, k%cols, rows[k]))
	}
	for len(rows) > 0 {
		n := min(w.meta.BlockRows*cols-len(w.feat), len(rows))
		w.feat = append(w.feat, rows[:n]...)
		rows = rows[n:]
		w.rows += n / cols
		if len(w.feat) == w.meta.BlockRows*cols || w.rows == w.meta.V {
			i := uint32((w.rows - 1) / w.meta.BlockRows)
			if err := w.block(KindFeatures, i, 0, bytesOf(w.feat)); err != nil {
				return w.fail(err)
			}
			w.feat = w.feat[:0]
		}
	}
	return nil
}

// once writes a block of a kind that may occur only once.
func (w *Writer) once(k Kind, data []byte) error {
	if err := w.ready(); err != nil {
		return err
	}
	if w.set[k] {
		return w.fail(fmt.Errorf("%v are set twice", k))
	}
	w.set[k] = true
	return w.fail(w.block(k, 0, 0, data))
}

// SetName sets the name of the graph, in place of Meta.Name.
func (w *Writer) SetName(name string) { w.meta.Name = name }

// SetLabels sets the class of each vertex: V values in -1..Classes-1, -1 for a
// vertex without label.
func (w *Writer) SetLabels(labels []int32) error {
	if len(labels) != w.meta.V {
		return w.fail(fmt.Errorf("%d labels for %d vertices", len(labels), w.meta.V))
	}
	for v, c := range labels {
		if c < -1 || int(c) >= w.meta.Classes {
			return w.fail(fmt.Errorf("vertex %d has class %d of %d", v, c, w.meta.Classes))
		}
	}
	return w.once(KindLabels, bytesOf(labels))
}

// SetMultiLabels sets V×Classes values 0, 1 or -1 (not known), row-major.
func (w *Writer) SetMultiLabels(labels []float32) error {
	if len(labels) != w.meta.V*w.meta.Classes {
		return w.fail(fmt.Errorf("%d labels for %d vertices and %d classes", len(labels), w.meta.V, w.meta.Classes))
	}
	b, err := setBytes(nil, labels, w.meta.Classes, "vertex")
	if err != nil {
		return w.fail(err)
	}
	return w.once(KindMultiLabels, b)
}

// SetGraphs sets the graph that each vertex belongs to, V values, and the class
// of each graph, from -1 on; labels may be nil.
func (w *Writer) SetGraphs(graphOf []uint32, labels []int32) error {
	if len(graphOf) != w.meta.V {
		return w.fail(fmt.Errorf("%d graph numbers for %d vertices", len(graphOf), w.meta.V))
	}
	for v, g := range graphOf {
		if g == math.MaxUint32 || labels != nil && int64(g) >= int64(len(labels)) {
			return w.fail(fmt.Errorf("vertex %d belongs to graph %d of %d", v, g, len(labels)))
		}
	}
	for g, c := range labels {
		if c < -1 {
			return w.fail(fmt.Errorf("graph %d has class %d", g, c))
		}
	}
	if err := w.once(KindGraphOf, bytesOf(graphOf)); err != nil || labels == nil {
		return err
	}
	w.h.Graphs = int64(len(labels))
	return w.once(KindGraphLabels, bytesOf(labels))
}

// SetNotes sets a text about how the graph was made.
func (w *Writer) SetNotes(text string) error {
	if !utf8.ValidString(text) {
		return w.fail(errors.New("the notes are not UTF-8"))
	}
	return w.once(KindNotes, []byte(text))
}

// SetSchema sets a text that says what the numbers of the store mean.
func (w *Writer) SetSchema(text string) error {
	if !utf8.ValidString(text) {
		return w.fail(errors.New("the schema is not UTF-8"))
	}
	return w.once(KindSchema, []byte(text))
}

// SetVertexNames sets a name for each vertex: V strings.
func (w *Writer) SetVertexNames(names []string) error {
	if len(names) != w.meta.V {
		return w.fail(fmt.Errorf("%d names for %d vertices", len(names), w.meta.V))
	}
	var b []byte
	for v, n := range names {
		if int64(len(n)) > math.MaxUint32 {
			return w.fail(fmt.Errorf("the name of vertex %d has %d bytes", v, len(n)))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(n)))
	}
	for _, n := range names {
		b = append(b, n...)
	}
	return w.once(KindVertexNames, b)
}

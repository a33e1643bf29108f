package main

import (
	"bufio"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/cli"
)

// writeMatches writes rows of vertices, by their ids in the file of the data (numbers only in a .npy), to path
// by its ending, and returns how many there were. A file appears as a whole or not at all.
func (f csvForm) writeMatches(path string, cols int, d *dataset.Data, rows iter.Seq2[[]uint32, error]) (n int64, err error) {
	if filepath.Ext(path) == ".csv" {
		err = f.matchesAsText(path, cols, d, rows, &n)
		return n, err
	}
	if d.Vertices.Names != nil || !d.HasIDs() {
		err = npy.WriteRows(path, cols, func(add func([]uint32) error) error { return eachRow(rows, &n, add) })
		return n, err
	}
	wide := make([]uint64, cols)
	err = npy.WriteRows(path, cols, func(add func([]uint64) error) error {
		return eachRow(rows, &n, func(row []uint32) error {
			for i, v := range row {
				wide[i] = d.Vertices.Number(int(v))
			}
			return add(wide)
		})
	})
	return n, err
}

// eachRow calls add with all rows and counts them.
func eachRow(rows iter.Seq2[[]uint32, error], n *int64, add func([]uint32) error) error {
	for row, err := range rows {
		if err == nil {
			err = add(row)
		}
		if err != nil {
			return err
		}
		*n++
	}
	return nil
}

// matchesAsText writes a .csv with a heading: v0, v1 and so on by pattern vertex.
func (f csvForm) matchesAsText(path string, cols int, d *dataset.Data, rows iter.Seq2[[]uint32, error], n *int64) error {
	return cli.WriteWhole(path, func(w *bufio.Writer) error {
		w.WriteString("v0")
		for i := 1; i < cols; i++ {
			fmt.Fprintf(w, ",v%d", i)
		}
		w.WriteByte('\n')
		var buf []byte
		return eachRow(rows, n, func(row []uint32) error {
			buf = buf[:0]
			for i, v := range row {
				if i > 0 {
					buf = append(buf, ',')
				}
				if d.Vertices.Names != nil {
					buf = append(buf, f.field(d.Vertices.Names[v])...)
				} else {
					buf = strconv.AppendUint(buf, d.Vertices.Number(int(v)), 10)
				}
			}
			_, err := w.Write(append(buf, '\n'))
			return err
		})
	})
}

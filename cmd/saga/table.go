package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sagann/dataset/npy"
	"sagann/internal/cli"
)

// canWrite says whether a table can be put at path, before the work begins.
func canWrite(path string) error {
	if ext := filepath.Ext(path); ext != ".npy" && ext != ".csv" {
		return cli.Usagef("--out %s: the ending must be .npy or .csv", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}

// writeTable writes rows (shape [V] or [V, columns]) to path by its ending. A .csv has
// a heading: what a row is, such as vertex, and column, numbered when there are several.
// Rows are numbered, or named by ids where that is not nil.
func writeTable[T float32 | int32 | uint8](path, row, column string, ids func(int) string, shape []int, x []T) error {
	defer removedOnSignal(path)()
	if filepath.Ext(path) == ".npy" {
		return npy.Write(path, shape, x)
	}
	return writeWhole(path, func(w *bufio.Writer) error {
		cols := 1
		w.WriteString(row)
		if len(shape) > 1 {
			cols = shape[1]
			for i := range cols {
				fmt.Fprintf(w, ",%s%d", column, i)
			}
		} else {
			w.WriteString("," + column)
		}
		w.WriteByte('\n')
		var buf []byte
		for v := range shape[0] {
			if buf = buf[:0]; ids == nil {
				buf = strconv.AppendInt(buf, int64(v), 10)
			} else {
				buf = append(buf, csvField(ids(v))...)
			}
			for _, y := range x[v*cols : (v+1)*cols] {
				buf = strconv.AppendFloat(append(buf, ','), float64(y), 'g', -1, 32)
			}
			w.Write(append(buf, '\n'))
		}
		return nil
	})
}

// csvField puts text that holds commas, quotes or ends of lines in quotes.
func csvField(text string) string {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// writeWhole puts at path what write gives, or leaves what was there.
func writeWhole(path string, write func(w *bufio.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), partialName(path)+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriterSize(io.Writer(f), 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil { // also the first error of what was written before
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

package device

import "fmt"

// checkRows checks that rows ascends and lies in src.
func checkRows(src []byte, rowBytes int64, rows []uint32) error {
	if rowBytes <= 0 {
		return fmt.Errorf("rows of %d bytes", rowBytes)
	}
	for i, r := range rows {
		if i > 0 && rows[i-1] >= r {
			return fmt.Errorf("row %d after row %d: rows must ascend", r, rows[i-1])
		}
	}
	if n := len(rows); n > 0 && (int64(rows[n-1])+1)*rowBytes > int64(len(src)) {
		return fmt.Errorf("row %d of %d bytes lies outside %d bytes", rows[n-1], rowBytes, len(src))
	}
	return nil
}

// extent is the end of the last row in the destination, in bytes from row 0.
func extent(rowBytes int64, rows []uint32) int64 {
	if len(rows) == 0 {
		return 0
	}
	return (int64(rows[len(rows)-1]) + 1) * rowBytes
}

// copyRows copies rows; each run of neighbouring rows is one copy.
func copyRows(dst, src []byte, rowBytes int64, rows []uint32) {
	for lo := 0; lo < len(rows); {
		hi := lo + 1
		for hi < len(rows) && rows[hi] == rows[hi-1]+1 {
			hi++
		}
		from, to := int64(rows[lo])*rowBytes, (int64(rows[hi-1])+1)*rowBytes
		copy(dst[from:to], src[from:to])
		lo = hi
	}
}

// CopyRows copies some rows of src to their places in dst.
func (d *CPU) CopyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	return d.err(OpH2D, q, d.copyRows(q, dst, dstOff, src, rowBytes, rows))
}

func (d *CPU) copyRows(q Queue, dst Mem, dstOff int64, src []byte, rowBytes int64, rows []uint32) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	if err := checkRows(src, rowBytes, rows); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	n := extent(rowBytes, rows)
	if err := d.space.check(dst, dstOff, n); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	to := d.arena.b[dst.off+dstOff:][:n]
	t := task{op: OpH2D, dst: to, src: src, rows: rows, rowBytes: rowBytes}
	t.file, t.at = fileOf(src)
	return own.copy(&t)
}

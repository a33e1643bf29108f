package cuda

import (
	"sagann/device"
	"sagann/mine/rows"
)

// Fit says how the memory of a GPU is divided.
type Fit struct {
	Layout   Layout
	Room     int64 // bytes for work: the argument room of Sums, Count, Maps and List
	Bytes    int64 // all
	Smallest int64 // the smallest limit that works
}

// Divide divides limit bytes of each GPU between the rows and the work. The work can use from least
// to most bytes. If all rows do not fit, the work gets a quarter of the memory or, if more, what it needs
// at least; the rows that do not fit into the rest stay in host memory. ok is false if limit is
// less than Smallest.
func Divide(r *rows.Rows, part Part, limit, least, most int64) (f Fit, ok bool) {
	table, all := TableBytes(r), Layout{Part: part}.RowBytes(r)
	f = Fit{Layout: Layout{Part: part, Hot: -1}, Smallest: table + device.Align + least}
	switch {
	case limit < f.Smallest:
		return f, false
	case limit-table-all >= least:
		f.Room = min(most, limit-table-all)
		f.Bytes = table + all + f.Room
		if hubs := HubBytes(r); part == Whole && hubs > 0 && f.Bytes+hubs <= limit {
			f.Layout.Hubs = true
			f.Bytes += hubs
		}
	default:
		f.Room = max(least, min(most, (limit-table)/4))
		f.Layout.Hot = limit - table - f.Room - device.Align
		f.Bytes = limit
	}
	return f, true
}

// Resident is the share of the bytes of rows that lies on the GPUs.
func (l Layout) Resident(r *rows.Rows) float64 {
	all := l.RowBytes(r)
	if l.Hot < 0 || l.Hot >= all {
		return 1
	}
	return float64(l.Hot) / float64(all)
}

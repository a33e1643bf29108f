// Package agg counts 64-bit keys, and sorts them: in memory as long as they fit, otherwise through files.
//
//	c, err := agg.NewCounter(agg.Options{Mem: 1 << 30, Scratch: "/fast/disk"})
//	err = c.Add(keys...)
//	for e, err := range agg.Entries(ctx, c) { … } // ascending keys with their counts
//	err = c.Close()
//
// A Counter has a table of distinct keys. When the table is full, its entries are sorted and written to a file, a run,
// and the table begins anew. In the end the runs are merged, and counts of equal keys added. A Sorter does the
// same with keys that are not counted. So memory bounds neither the keys nor the distinct keys, and the result does not depend on it. Few
// distinct keys are best counted: each costs a look into a small table, while a sort moves each key several times.
//
// The files: count.go (Counter), sort.go (Sorter, and the sort in memory), runs.go (files), merge.go (reading runs in order).
package agg

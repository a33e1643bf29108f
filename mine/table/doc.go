// Package table walks over all connected subgraphs of a size: rows of an embedding table, made one after
// the other, prefix by prefix, and not stored. A row is a sequence of edges or of vertices.
//
// Each set of edges is one row: its least connected order. In such an order the first edge is the least
// of all, and each next edge touches one before it. The order is least if every edge is larger than the
// first one, and than all that come after the first edge it touches. That can be decided when the edge is
// added, so no row is made twice, and the beginning of a row is a row. Edges ascend by
// lower end, then by higher end. For vertices read adjacent for touching.
//
// Rows that differ in nothing but vertices have one quick code: the labels of their vertices in the
// order in which they come, and which of these each edge joins. The rows of the last level are only counted: by quick code, that
// is by the code of the beginning and the label of the last vertex. Canonical forms are computed once for each
// code, not for each row.
//
// The files: code.go (quick codes), edges.go and vertices.go (the walks), apart.go (rows without shared beginnings, for comparison), count.go (counting rows by pattern), forms.go (canonical forms of codes), totals.go (counts by
// pattern, and the memory for codes and counters);
// device.go and counts.go (quick codes and counts of rows that GPUs make);
// rows.go (rows that users see one by one, with conditions and keys of their own) and values.go (these conditions and keys), stored.go and stored_read.go (rows that are kept, and reading them), file.go (what of them has no room in memory), sizes.go and rate.go (how many there will be, and how long they take, from samples), pieces.go and packed.go (rows that GPUs keep), quick.go (codes by which GPUs tell rows apart).
package table

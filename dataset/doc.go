// Package dataset reads the graphs that users have and makes the ones they lack.
//
// Load recognises Planetoid, TU and OGB folders, folders and archives of NumPy
// arrays and SciPy matrices, PyG's .pt files, MATLAB files, Matrix Market files and
// edge lists, and the project's own store; LoadTables reads tables of edges and
// vertices. Convert writes any of them as a store, in pieces where it can. Synthetic
// and Karate need no file. Every reader holds what a file
// claims against the bytes that are there before it allocates, and refuses bad
// input with the file and its line or byte; Validate repeats the checks that
// need the whole graph.
//
// The files. What there is: data.go, kind.go, split.go, options.go, features.go, sparse.go, targets.go,
// links.go, nonedges.go, oneway.go, across.go, simplify.go, validate.go. What stands at a path: load.go; in pieces: stream.go, convert.go, shard.go, shardwrite.go. One kind
// of reader each:
//
//   - NumPy: npyfolder.go, npz.go and npzpickled.go list arrays (arrays.go, alias.go), of
//     which npygraph.go, npyedges.go, npyvertex.go, npysplits.go make a graph; csr.go for
//     sparse matrices; textarrays.go for texts of the same names; npywrite.go writes.
//   - PyG: pt.go, ptgraphs.go, pttensor.go.
//   - Tables: tables.go, tablevertices.go, tableedges.go, csvfile.go, csvcolumns.go, idtable.go.
//   - Edge lists: edgelist.go, edgeheading.go, edgestream.go; Matrix Market: mtx.go; SVMlight: svmlight.go; texts: text.go, parse.go, columns.go.
//   - Folders: planetoid.go (pickle.go, pickledecode.go), tu.go, ogb.go. MATLAB: mat.go, matgraph.go.
//   - The project's own store: store.go.
//   - Generated: karate.go, synthetic.go, community.go, rmat.go, spec.go.
package dataset

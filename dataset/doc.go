// Package dataset reads graphs in many formats, and generates graphs.
//
// Load recognises Planetoid, TU and OGB folders, folders and archives of NumPy arrays and SciPy
// matrices, PyG's .pt files, MATLAB files, Matrix Market files and edge lists, and the project's
// own store; LoadTables reads tables of edges and vertices. Convert writes a graph of any of these
// formats as a store; for most formats it holds only pieces of the graph in memory. Synthetic and
// Karate need no file. Every reader compares the sizes that a file claims with the bytes that are
// there, before it allocates memory. Errors name the file and its line or byte. Validate checks
// the whole graph.
//
// The files. The data, and changes and checks of the data: data.go, schema.go, schemanames.go, schemafit.go, schemalabels.go, kind.go, split.go, options.go, vertexids.go,
// features.go, sparse.go, targets.go, links.go, linksplit.go, timesplit.go, triples.go, pairfile.go, reverses.go, typereverses.go, splitfiles.go, nonedges.go, notyet.go, oneway.go, across.go, added.go, virtual.go, simplify.go, summary.go,
// validate.go. Finding the format of a path: load.go, takes.go. Reading and writing in pieces: stream.go,
// convert.go, shard.go, shardmanifest.go, shardwrite.go, of several types shardends.go, shardkinds.go, shardkindswrite.go. Graphs of several types of vertices: hetero*.go, kinds.go. The readers, by format:
//
//   - NumPy: npyfolder.go, npz.go and npzpickled.go find arrays by name (arrays.go), from
//     which npygraph.go, npyedges.go, npyvertex.go, npygraphs.go, npysplits.go make a graph; csr.go has
//     sparse matrices, npyends.go numbers ends that nothing names; npywrite.go writes.
//   - PyG: pt.go, ptgraphs.go, ptlist.go, pttensor.go, ptsparse.go; state_dicts: pttensors.go.
//   - Tables: tables.go, tablevertices.go, prepare.go, tableedges.go, addedtables.go, addedkinds.go, csvfile.go, csvcolumns.go.
//   - Texts: text.go, parse.go, columns.go; the rules of all of them: rules.go, of times times.go, and of ids ids.go, idset.go;
//     edge lists: edgelist.go, with arrays beside them listfolder.go, textarrays.go; Matrix Market: mtx.go; SVMlight: svmlight.go.
//   - Folders: planetoid.go (pickle.go, pickledecode.go), tu.go, ogb.go. MATLAB: mat.go, matgraph.go.
//   - The project's own store: store.go. What other software reads, and files without a known ending: foreign.go.
//   - Generated: karate.go, synthetic.go, community.go, rmat.go, spec.go, alias.go.
package dataset

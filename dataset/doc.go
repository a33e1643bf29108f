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
package dataset

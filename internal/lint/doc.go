// Package lint holds the rules of the module's own source, as a test: imports
// point down, files, functions and records stay small, a Config that was checked stays as
// it is, build tags, assembly and cgo stand where they may, exported names and packages are
// documented, a list of files in a doc.go has them all, everything is formatted, and no file outside the folders of devices compares a
// kind of device with a literal.
//
// lint.go runs the checks of imports.go, files.go, sizes.go, config.go, docs.go and kinds.go.
// The rules that are data stand in table.go. The go command does not know that the
// test reads the whole module, so run it with -count=1:
//
//	go test -count=1 ./internal/lint
package lint

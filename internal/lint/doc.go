// Package lint checks the rules of the module's own source, as a test:
//
//   - imports point down;
//   - files, functions and structs stay small;
//   - a Config does not change after it was checked;
//   - build tags, assembly and cgo are used only in some folders;
//   - exported names and packages are documented, and a list of files in a doc.go is complete;
//   - everything is formatted;
//   - only the folders of devices compare a kind of device with a literal.
//
// lint.go runs the checks of imports.go, files.go, sizes.go, config.go, docs.go and kinds.go.
// The rules that are data are in table.go. The go command does not know that the
// test reads the whole module, so run it with -count=1:
//
//	go test -count=1 ./internal/lint
package lint

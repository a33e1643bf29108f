// Package lint checks the rules of the module's own source, as a test:
//
//   - imports point down;
//   - files, functions and structs stay small;
//   - a Config does not change after it was checked;
//   - build tags, assembly and cgo are used only in some folders;
//   - exported names and packages are documented, and a list of files in a doc.go is complete;
//   - everything is formatted;
//   - only the folders of devices compare a kind of device with a literal;
//   - what nobody looks at does not grow: methods of a type, tests of mode in package saga, calls that run against the order of
//     a doc.go, circles of calls (limits.go; -v prints today's figures).
//
// A call here is a pair of files: a function of one calls a function or method of the other. It runs back if doc.go lists
// the other file earlier. A circle is a set of files that reach each other by calls.
//
// ratchet.go and calls.go measure what limits.go bounds. lint.go runs the checks of imports.go, files.go, sizes.go, config.go, docs.go and kinds.go.
// The rules that are data are in table.go. The go command does not know that the
// test reads the whole module, so run it with -count=1:
//
//	go test -count=1 ./internal/lint
package lint

// Package words makes sentences with numbers in them.
//
// The files: words.go.
package words

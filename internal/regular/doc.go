// Package regular opens files that are to be read, and refuses all else before it is opened: opening a FIFO waits for
// a writer, and a device has no end. Files: regular.go, zip.go (archives).
package regular

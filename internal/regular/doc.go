// Package regular opens files that are to be read, and refuses all else before it is opened: opening a FIFO waits for
// a writer, and a device has no end. Nor is one replaced by a file that is written. Files: regular.go, zip.go (archives).
package regular

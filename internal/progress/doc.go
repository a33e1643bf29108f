// Package progress shows how far a long run has come: as a bar that redraws itself
// on a terminal, as plain lines at a bounded rate anywhere else, so that a log file
// or a continuous-integration page stays readable. It starts no goroutine: what is
// shown is what the caller last said.
package progress

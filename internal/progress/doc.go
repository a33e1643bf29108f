// Package progress shows the progress of a long run. On a terminal it is a bar that is redrawn. Anywhere
// else it is plain lines at a bounded rate, so that log files
// stay readable. It starts no goroutine, and draws only when the caller calls Set or Finish.
package progress

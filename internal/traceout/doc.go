// Package traceout writes the trace of a run, task by task, in formats that other programs
// open: the Chrome trace event format (Perfetto, chrome://tracing) and the profile
// format of pprof. It also computes how well copies overlapped with compute.
//
// It does not depend on plans or devices: a [Trace] describes tasks by texts and numbers,
// so measured times and simulated times are written in the same way.
package traceout

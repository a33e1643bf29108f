// Package traceout writes what a run did, task by task, in forms that other programs
// open: the Chrome trace event format (Perfetto, chrome://tracing) and the profile
// format of pprof. It also sums up how well copies hid behind compute.
//
// It knows neither plans nor devices: a [Trace] describes tasks in words and numbers,
// so that times measured by an executor and times that a simulator made look alike.
package traceout

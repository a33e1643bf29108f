// Package measure has what the benchmarks share: the sizes of graphs by name (shapes.go), and processor time, medians and
// numbers that look random (measure.go).
package measure

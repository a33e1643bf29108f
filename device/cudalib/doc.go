// Package cudalib loads libraries of the CUDA toolkit when they are first used, so that a program
// that uses none starts at once, and starts where there are none.
package cudalib

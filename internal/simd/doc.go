// Package simd has the vector loops of the CPU: element-wise float32 arithmetic and
// activations, gathers of rows, matrix products, and the random words of
// samplers (Philox), whose bits are the same at every level.
//
// Every function exists as a plain Go loop, which is also its specification,
// and most of them exist a second and third time as assembly for AVX2 with FMA
// and for AVX-512, chosen once at start (see Active). The assembly is written
// by the generator in gen, a module of its own; its output is part of this
// package, so building needs no generator. The build tag noasm leaves the Go
// loops only.
//
// Conventions. Slices are dense and row-major unless a leading dimension ld
// says otherwise; ld counts floats between the starts of two rows. The length
// of the first argument is the length of the operation; other slices must be at
// least as long. Element-wise functions allow dst to be one of their inputs;
// partial overlap is not allowed. Nothing allocates, nothing starts a
// goroutine, and callers may run any function concurrently on disjoint
// outputs.
//
// Determinism. A function returns the same bits for the same inputs at the same
// level on every call, and the result for an element does not depend on where
// in a slice it stands, nor on how many rows a product has. AVX2 and AVX-512 do
// the same operations in the same order and give the same bits; the Go loops
// agree with them to rounding only, as the assembly fuses multiply and add and
// approximates the exponential and its relatives.
package simd

//go:generate go -C gen run . -dir ..

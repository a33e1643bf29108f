// Package npy reads and writes NumPy's .npy files and .npz archives.
//
// Element types are float16 (read as float32), float32, float64, the signed and
// unsigned integers of 8 to 64 bits, and bool, in either byte order. Arrays written
// in Fortran order are read into C (row-major) order. The sizes in a header are checked against
// the size of the file before anything is allocated. Files are written in
// format version 1.0.
package npy

// Package safetensors reads and writes the safetensors format, in which
// checkpoints are kept so that programs in other languages can open them.
//
// A file is
//
//	8 bytes   n, the length of the header, little-endian
//	n bytes   a JSON object: name -> {dtype, shape, data_offsets: [begin, end]},
//	          and optionally "__metadata__" -> {string: string}
//	the rest  the values, little-endian and row-major; offsets count from here
//
// The tensors tile the rest without gap or overlap. [Read] trusts nothing in the
// header: every length is compared with the size of the file before memory is
// taken for it.
package safetensors

// Package launch runs kernels of CUDA text on a GPU. A Kernel knows its parameters by the text, and puts arguments with names
// in their order (kernel.go). A Card holds the memory that its user has taken and a queue (card.go). A Call names a kernel of a
// source and gives its arguments; the Card compiles the kernel when it is first called (call.go).
package launch

// Package launch puts kernels on a GPU: a card with the memory that was taken on it, its queue and the kernels that were
// compiled for it (card.go), and launches of kernels whose arguments have the names of the kernel's parameters (call.go).
package launch

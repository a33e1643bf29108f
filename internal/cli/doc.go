// Package cli has the parts that the commands of saga and the tables of bench share: flags of numbers, sizes
// and choices, a flag with the statistics of a graph, mistakes in the command line, files that are written whole, the memory that is free,
// JSON whose fields keep their order, and the passes that the system of the NGra paper does not have.
package cli

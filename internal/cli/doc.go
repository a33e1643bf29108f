// Package cli is what the commands of saga and the tables of bench/ share: flags of numbers, sizes
// and choices, statistics of a graph as a flag, mistakes in the command line, JSON whose fields keep
// their order, and what the paper's system left out.
package cli

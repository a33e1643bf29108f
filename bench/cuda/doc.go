// Command cuda times training epochs on a GPU at the shape of the paper's
// reddit_middle graph, and lists where the time goes, by the device's own events. Its
// tests hold the GPU against the CPU; they are skipped where there is none.
package main

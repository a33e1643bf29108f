// Command cuda times training epochs on a GPU on a graph with the sizes of the paper's
// reddit_middle, and lists the time of each kernel, by the device's events. Its
// tests compare the GPU with the CPU; they are skipped if there is no GPU.
package main

// Package tables makes the tables of saga bench: orders of chunks, streaming, the ring, passes left
// out or added in turn, kernels and epochs of a GPU, and the search compared with an
// exhaustive one. Each table is a struct of flags whose Run prints it; package main of cmd/saga
// only lists them. Numbers are simulated from a graph's statistics. With --device they are also measured
// on a generated graph.
//
// In the order of the work:
//
//	commands.go   the commands of saga bench
//	bench.go, shared.go   sheets, and code that all tables share
//	run.go        a model trained for some epochs: bytes counted, times, losses
//	schedules.go, schedules_run.go   the paper's Figure 14
//	streaming.go, streaming_run.go   the paper's Figure 15
//	ring.go       the paper's Figure 16
//	ablation.go, ablation_same.go, ablation_picture.go, ladder.go   parts left out, and added
//	gpu.go        epochs and kernels of a GPU
//	auto.go       the search compared with an exhaustive one
//	sample*.go    draws of samplers, on CPUs and GPUs, and their bounds
//	embed*.go     Gunrock's two-hop embeddings
//	mine*.go      matching, cliques, frequent patterns and sorts, beside GAMMA's
package tables

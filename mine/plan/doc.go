// Package plan turns a pattern into nested loops that find each of its subgraphs once.
// Plans are data: loops over sets, how sets are made from neighbours, windows, labels and
// conditions. Engines interpret them (package run) or render them as text. Everything
// here is a pure function; what a graph is like comes in as Stats and through a Sampler.
//
// The files in the order of the work: plan.go (the types), make.go (a plan of one
// matching order), sets.go (which sets are made where), choose.go (the best order),
// maps.go (ways to count maps), expect.go (times of all engines), print.go.
package plan

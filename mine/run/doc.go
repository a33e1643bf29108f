// Package run counts and lists on the CPU: loops over sets (nest.go, nest_sets.go), binary joins (join.go), bit
// matrices for cliques (cliques.go), sums behind formulas (sums.go, closed.go,
// walks.go), maps (maps.go), listings in order
// (list.go), random walks that measure plans (sample.go), and how fast this machine is (speed.go). Work is cut into tasks of
// whole or part roots that all processors take in turn (tasks.go); sums are integers of
// 128 bits (total.go), so no result depends on who did what. What a run needs is taken
// before it begins (the functions whose names end in Need say how much), and nothing
// during it. Where results outgrow what can be known before, a meter counts them (meter.go).
package run

// Package plantest helps tests of plans: programs, grids and options that are drawn, plans by hand, and a checker
// that runs a plan on a model of memory.
package plantest

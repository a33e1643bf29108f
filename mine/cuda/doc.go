// Package cuda counts and lists on GPUs what package run does on the CPU: cliques
// (cliques.go), the sums behind formulas (sums.go, walks.go), maps (maps.go), the loops of plans (nest.go), and
// listings (list.go, list_exact.go). It finds domains of frequent patterns for package domain (domains.go, domains_lane.go), counts rows of edges by quick codes of package table (tables.go, tables_lane.go), makes rows of users' tables in their order (grow.go, grow_room.go, grow_lane.go, grow_host.go, grow_read.go), leaves some out by their patterns (grow_filter.go), keeps them (grow_store.go, slabs.go) or counts them by keys (grow_count.go), and sorts keys that outgrow it (sort.go). Kernels are text (text.go, text_*.go), translated when they are
// first used, and launched by package launch. The graph is reached through a table of 64-bit row addresses (graph.go), so
// that rows may lie anywhere a GPU can read; rows of neighbours above a vertex are packed
// (pack.go); fit.go divides the memory between rows and work. Tasks of one list are dealt to GPUs in turn, and sums are integers of 128 bits, so
// no result depends on their number (run.go). All memory is taken before a run begins.
package cuda

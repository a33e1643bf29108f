package cli

import "sagann/saga"

// newerPasses are not in the paper.
var newerPasses = []string{"commute", "degree-sort", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice"}

// PaperSave is the save policy of the paper's system: what a product or a gather makes
// is stored, what is element-wise is computed again. No search.
const PaperSave = "some"

// PaperWithout are the passes that --paper leaves out; one that this engine does not
// have is left out already.
func PaperWithout() []string {
	var list []string
	for _, pass := range newerPasses {
		if try := (&saga.Config{Without: []string{pass}}); try.Validate() == nil {
			list = append(list, pass)
		}
	}
	return list
}

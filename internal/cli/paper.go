package cli

import "sagann/saga"

// newerPasses are not in the paper.
var newerPasses = []string{"commute", "degree-sort", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice", "wide"}

// PaperSave is the save policy of the paper's system: results of products and gathers
// are stored, element-wise results are computed again. There is no search.
const PaperSave = "some"

// PaperWithout are the passes that --paper leaves out.
func PaperWithout() []string {
	var list []string
	for _, pass := range newerPasses {
		if try := (&saga.Config{Without: []string{pass}}); try.Validate() == nil {
			list = append(list, pass)
		}
	}
	return list
}

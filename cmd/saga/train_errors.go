package main

import (
	"errors"
	"fmt"

	"sagann/saga"
)

// advise adds to the error of a training whose numbers have overflowed which flags to try,
// and what the folder is good for.
func (c *trainCmd) advise(err error, r *running) error {
	var bad *saga.NotFiniteError
	if !errors.As(err, &bad) {
		return err
	}
	dir := r.folder.Dir
	next := fmt.Sprintf("%s has no checkpoint yet: --out %s begins anew in it", dir, dir)
	if ck, e := saga.ReadCheckpoint(r.folder.Path(checkpointFile)); e == nil {
		next = fmt.Sprintf("the checkpoint of epoch %d in %s is good: saga predict and saga evaluate take it; a run with other settings needs another --out", ck.Epoch, dir)
	}
	return fmt.Errorf("%w\ntry a --lr below %v, --clip-norm 1 or --row-normalize on; saga data info describes the data\n%s", err, c.Training.LR, next)
}

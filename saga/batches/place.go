package batches

import "fmt"

// Place is the place of a batch in a run. Both numbers count from 0.
type Place struct{ Epoch, Batch int }

// String names a batch in errors, where epochs and batches count from 1.
func (at Place) String() string { return fmt.Sprintf("epoch %d, batch %d", at.Epoch+1, at.Batch+1) }

// Turn says which batches of an update a device computes: batch r if r modulo Of is Number.
type Turn struct{ Number, Of int }

// Count is how many batches an epoch has.
func (d *Draws) Count() int {
	n, _ := d.kind.count()
	return n
}

// PartsAt is how many batches update i of an epoch has: Setting.Parts, or what is left for the last.
func (d *Draws) PartsAt(i int) int { return min(d.Parts, d.Count()-i*d.Parts) }

// Updates is how many updates an epoch has.
func (d *Draws) Updates() int { return (d.Count() + d.Parts - 1) / d.Parts }

// First is the place of the first batch of an update.
func (d *Draws) First(epoch, update int) Place { return Place{epoch, update * d.Parts} }

// Next is the place of the first batch after at that a device computes.
func (d *Draws) Next(at Place, t Turn) Place {
	for {
		if at.Batch++; at.Batch == d.Count() {
			at.Epoch, at.Batch = at.Epoch+1, 0
		}
		if at.Batch%d.Parts%t.Of == t.Number {
			return at
		}
	}
}

// Tries is how many batches are drawn for planning. The last batch of an epoch, which may be
// smaller, is not among them.
func (d *Draws) Tries() int {
	_, full := d.kind.count()
	return max(1, min(presampled, full))
}

// presampled is how many batches are drawn to find the sizes that plans provide memory for. The
// standard error of a mean over 16 batches is a quarter of their standard deviation.
const presampled = 16

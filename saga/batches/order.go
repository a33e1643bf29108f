package batches

// Order says which items each batch of an epoch has.
type Order struct {
	d  *Draws
	of epochItems
}

// Order draws the order of an epoch. It depends on seed and epoch alone.
func (d *Draws) Order(epoch int) (*Order, error) {
	of, err := d.kind.order(epoch)
	return &Order{d, of}, err
}

// Items are the items of a batch, and how often each counts in the loss; nil: once.
func (o *Order) Items(batch int) (items []uint32, counts []float32) { return o.of.items(batch) }

// total is the weight of the items of the update that contains a batch.
func (o *Order) total(batch int) (sum float64) {
	update := batch / o.d.Parts
	for r := range o.d.PartsAt(update) {
		sum += o.of.weight(update*o.d.Parts + r)
	}
	return sum
}

// all are the items of all batches of the epoch, one after the other.
func (o *Order) all() (list []uint32) {
	for i := range o.d.Count() {
		items, _ := o.Items(i)
		list = append(list, items...)
	}
	return list
}

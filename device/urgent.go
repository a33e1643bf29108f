package device

// urgent is a device that has queues whose kernels go first.
type urgent interface {
	NewUrgentQueue(name string) (Queue, error)
}

// NewUrgentQueue is NewQueue of d for what is short, or for what others wait for. Where a device can, kernels of such a queue do not wait until
// those of other queues have begun with all of their blocks of threads.
func NewUrgentQueue(d Device, name string) (Queue, error) {
	if u, ok := d.(urgent); ok {
		return u.NewUrgentQueue(name)
	}
	return d.NewQueue(name)
}

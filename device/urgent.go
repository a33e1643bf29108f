package device

// urgent is a device that has queues whose kernels go first.
type urgent interface {
	NewUrgentQueue(name string) (Queue, error)
}

// NewUrgentQueue is d.NewQueue for short tasks and for tasks that others wait for. If the device supports
// it, kernels of such a queue start before the waiting thread blocks of other queues.
func NewUrgentQueue(d Device, name string) (Queue, error) {
	if u, ok := d.(urgent); ok {
		return u.NewUrgentQueue(name)
	}
	return d.NewQueue(name)
}

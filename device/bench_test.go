package device

import (
	"testing"
	"time"
)

// BenchmarkSubmit is the cost of one submission as an executor pays it: 100,000
// tasks a step over three queues, then Sync. The tasks are nearly empty, so
// the queues run dry all the time, which is the worst case for wake-ups.
func BenchmarkSubmit(b *testing.B) {
	for _, c := range []struct {
		name string
		step func(d *CPU, q []Queue, ev []Event, m Mem, host []byte, i int) error
	}{
		{"launch", func(d *CPU, q []Queue, _ []Event, _ Mem, _ []byte, i int) error {
			return d.Launch(q[i%3], empty)
		}},
		{"copy", func(d *CPU, q []Queue, _ []Event, m Mem, host []byte, i int) error {
			return d.CopyH2D(q[i%3], m, int64(i%3)*64, host)
		}},
		{"event", func(d *CPU, q []Queue, ev []Event, _ Mem, _ []byte, i int) error {
			if i%2 == 0 {
				return d.Record(q[i%3], ev[i/2%8])
			}
			return d.Wait(q[i%3], ev[i/2%8])
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, err := NewCPU(0, 1<<20)
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			m, _ := d.Alloc(4096)
			defer d.Free(m)
			host := make([]byte, 64)
			var qs []Queue
			for range 3 {
				q, _ := d.NewQueue("q")
				qs = append(qs, q)
			}
			var ev []Event
			for range 8 {
				e, _ := d.NewEvent()
				ev = append(ev, e)
			}
			const tasks = 100_000
			var submit time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				for i := range tasks {
					if err := c.step(d, qs, ev, m, host, i); err != nil {
						b.Fatal(err)
					}
				}
				submit += time.Since(start)
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(b.N) * tasks
			b.ReportMetric(float64(submit.Nanoseconds())/n, "submit-ns/task")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/task")
		})
	}
}

var empty = HostFunc("empty", func([]byte) error { return nil })

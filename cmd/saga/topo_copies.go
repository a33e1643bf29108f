package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"sagann/backend"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/ring"
)

// copyBytes is the length of one copy that saga topo --measure times: beyond caches, and
// beyond what a link's latency shows in.
const copyBytes = 64 << 20

// copies implements ring.Prober over devices, by the times that the devices themselves
// take of copies. Every device has a block that is read and one that is written, and two
// beside them in host memory, so that no two directions touch the same bytes.
type copies struct {
	bytes    int64             // of a copy
	inFlight int               // copies submitted at once, one after the other on a queue
	runs     int               // of which the best counts, after one that does not
	ways     [][]ring.PeerKind // nil: every pair has a link of its own
	devices  []device.Device

	mem    [][2]device.Mem // by device: read, written
	host   [][2]device.HostMem
	queues map[ring.Copy]device.Queue
	mu     sync.Mutex
	spans  map[int64][]device.Span // by place in the list of copies
}

// open takes memory, all of it written once so that it exists.
func (c *copies) open() error {
	c.queues = map[ring.Copy]device.Queue{}
	for i, d := range c.devices {
		c.mem, c.host = append(c.mem, [2]device.Mem{}), append(c.host, [2]device.HostMem{})
		for k := range 2 {
			var err error
			if c.mem[i][k], err = d.Alloc(c.bytes); err != nil {
				return err
			}
			if c.host[i][k], err = d.HostAlloc(c.bytes); err != nil {
				return err
			}
			for b, at := c.host[i][k].Bytes(), 0; at < len(b); at += 4096 {
				b[at] = 1
			}
		}
		q, err := c.queue(ring.Copy{From: ring.Host, To: i})
		if err == nil {
			err = d.CopyH2D(q, c.mem[i][0], 0, c.host[i][0].Bytes())
		}
		if err = errors.Join(err, d.Sync()); err != nil {
			return err
		}
		d.SetTrace(func(s device.Span) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.spans[s.Tag] = append(c.spans[s.Tag], s)
		})
	}
	return nil
}

func (c *copies) close() error {
	var err error
	for i, d := range c.devices {
		if i < len(c.mem) {
			err = errors.Join(err, d.Sync())
			d.SetTrace(nil)
			for k := range 2 {
				if c.mem[i][k].Len() > 0 {
					err = errors.Join(err, d.Free(c.mem[i][k]))
				}
				if len(c.host[i][k].Bytes()) > 0 {
					err = errors.Join(err, d.HostFree(c.host[i][k]))
				}
			}
		}
	}
	for _, d := range c.devices { // a device may still be read by another until here
		err = errors.Join(err, d.Close())
	}
	return err
}

// device is where a copy is submitted: that which reads host memory, or reads another.
func (c *copies) device(k ring.Copy) device.Device {
	if k.To == ring.Host {
		return c.devices[k.From]
	}
	return c.devices[k.To]
}

func (c *copies) queue(k ring.Copy) (q device.Queue, err error) {
	if q = c.queues[k]; q == nil {
		q, err = c.device(k).NewQueue(fmt.Sprintf("%d to %d", k.From, k.To))
		c.queues[k] = q
	}
	return q, err
}

// Names lists the devices: gpu and the driver's number for GPUs.
func (c *copies) Names() []string {
	var names []string
	for _, d := range c.devices {
		info := d.Info()
		names = append(names, fmt.Sprint(backend.Of(info.Kind).Label, info.Index))
	}
	return names
}

// Way is that of copies between two devices.
func (c *copies) Way(from, to int) ring.PeerKind {
	if c.ways == nil {
		return ring.Direct
	}
	return c.ways[from][to]
}

// about says what is measured, on what.
func (c *copies) about() string {
	var names []string
	for _, d := range c.devices {
		names = append(names, fmt.Sprintf("%v (%s)", d.Info(), d.Info().Name))
	}
	return fmt.Sprintf("saga topo --measure: copies of %s, %d in flight, best of %d, on %s", cli.SizeText(c.bytes), c.inFlight, c.runs, strings.Join(names, ", "))
}

// Time runs the copies at the same time; of several runs it gives the one that moved most.
func (c *copies) Time(list []ring.Copy) ([]float64, error) {
	var best []float64
	most := 0.0
	for run := range 1 + c.runs {
		rates, err := c.once(list)
		if err != nil {
			return nil, err
		}
		sum := 0.0
		for _, r := range rates {
			sum += r
		}
		if run > 0 && sum > most {
			best, most = rates, sum
		}
	}
	return best, nil
}

// once submits all copies and counts what each moved while all of them ran.
func (c *copies) once(list []ring.Copy) ([]float64, error) {
	c.mu.Lock()
	c.spans = map[int64][]device.Span{}
	c.mu.Unlock()
	var err error
	for range c.inFlight {
		for i, k := range list {
			if err == nil {
				err = c.submit(int64(i), k)
			}
		}
	}
	for _, d := range c.devices {
		err = errors.Join(err, d.Sync())
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	begin, end := time.Duration(math.MaxInt64), time.Duration(math.MinInt64) // of any copy
	from, to := end, begin                                                   // while all run
	for i := range list {
		first, last := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
		for _, s := range c.spans[int64(i)] {
			first, last = min(first, s.Start), max(last, s.End)
		}
		from, to = max(from, first), min(to, last)
		begin, end = min(begin, first), max(end, last)
	}
	if end <= begin {
		return nil, fmt.Errorf("%v tells no times of copies", c.devices[0].Info())
	}
	if to-from < (end-begin)/2 { // they took turns, as on few processors: all from first to last
		from, to = begin, end
	}
	rates := make([]float64, len(list))
	for i := range list {
		for _, s := range c.spans[int64(i)] {
			if part := min(s.End, to) - max(s.Start, from); part > 0 {
				rates[i] += float64(s.Bytes) * float64(part) / float64(s.End-s.Start) / (to - from).Seconds()
			}
		}
	}
	return rates, nil
}

func (c *copies) submit(tag int64, k ring.Copy) error {
	q, err := c.queue(k)
	if err != nil {
		return err
	}
	q.SetTag(tag)
	d := c.device(k)
	switch {
	case k.From == ring.Host:
		return d.CopyH2D(q, c.mem[k.To][1], 0, c.host[k.To][0].Bytes())
	case k.To == ring.Host:
		return d.CopyD2H(q, c.host[k.From][1].Bytes(), c.mem[k.From][0], 0)
	}
	return d.CopyD2D(q, c.mem[k.To][1], 0, c.devices[k.From], c.mem[k.From][0], 0, c.bytes)
}

//go:build cuda

package device

/*
#include <stdlib.h>
#include <cuda.h>

// Capture begins on the first stream; the others join it by an event.
static int saga_begin(CUcontext ctx, CUstream *s, int n, CUevent fork) {
	int r = cuCtxSetCurrent(ctx);
	if (r || (r = cuStreamBeginCapture(s[0], CU_STREAM_CAPTURE_MODE_RELAXED))) return r;
	r = cuEventRecord(fork, s[0]);
	for (int i = 1; i < n && !r; i++) r = cuStreamWaitEvent(s[i], fork, 0);
	return r;
}

// The first stream waits for the others and capture ends, whatever went wrong before.
static int saga_end(CUcontext ctx, CUstream *s, int n, CUevent *join, int wrong, CUgraphExec *out) {
	CUgraph g = NULL;
	int r = cuCtxSetCurrent(ctx);
	for (int i = 1; i < n && !r; i++) {
		r = cuEventRecord(join[i], s[i]);
		if (!r) r = cuStreamWaitEvent(s[0], join[i], 0);
	}
	int end = cuStreamEndCapture(s[0], &g);
	if (!r) r = end;
	if (!r && !wrong) r = cuGraphInstantiate(out, g, 0);
	if (g) cuGraphDestroy(g);
	return r;
}

static int saga_replay(CUcontext ctx, CUgraphExec g, CUstream *s, int n, CUevent *join) {
	int r = cuCtxSetCurrent(ctx);
	for (int i = 1; i < n && !r; i++) {
		r = cuEventRecord(join[i], s[i]);
		if (!r) r = cuStreamWaitEvent(s[0], join[i], 0);
	}
	return r ? r : cuGraphLaunch(g, s[0]);
}

static void saga_drop(CUcontext ctx, CUgraphExec g) {
	cuCtxSetCurrent(ctx);
	cuGraphExecDestroy(g);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
)

// cudaGraph is captured work and the streams that it was captured from.
type cudaGraph struct {
	dev     *CUDA // of the first stream
	exec    C.CUgraphExec
	streams []cuStream
	events  []cuEvent // by stream: joins; that of the first is the fork
	devices []*CUDA
	counts  []Counters // by device: of what was captured
}

// Tasks is the number of copies and launches on all devices.
func (g *cudaGraph) Tasks() (n int64) {
	for _, c := range g.counts {
		n += c.Copies + c.Launches
	}
	return n
}

// Capture keeps what f submits to the queues, which may be those of several GPUs.
func (d *CUDA) Capture(queues []Queue, f func() error) (Graph, error) {
	g := &cudaGraph{dev: d}
	err := g.open(queues)
	for _, p := range g.devices {
		if err == nil {
			err = p.capture(true)
		}
	}
	if err == nil {
		n := C.int(len(g.streams))
		before := g.read()
		err = cuErr(C.saga_begin(d.ctx, &g.streams[0], n, g.events[0]))
		if err == nil {
			err = f()
			for _, p := range g.devices {
				p.mu.Lock()
				err = errors.Join(err, p.refused)
				p.mu.Unlock()
			}
		}
		if end := cuErr(C.saga_end(d.ctx, &g.streams[0], n, &g.events[0], cInt(err != nil), &g.exec)); err == nil {
			err = end
		}
		for i, c := range g.read() {
			g.counts = append(g.counts, c.less(before[i]))
			g.devices[i].counts.add(g.counts[i], -1)
		}
	}
	for _, p := range g.devices {
		err = errors.Join(err, p.capture(false))
	}
	if err != nil {
		g.free()
		return nil, d.err(OpLaunch, nil, fmt.Errorf("capture: %w", err))
	}
	d.mu.Lock()
	d.graphs = append(d.graphs, g)
	d.mu.Unlock()
	return g, nil
}

// open makes an event for every queue; the first queue is the graph's device's.
func (g *cudaGraph) open(queues []Queue) error {
	for i, q := range queues {
		own, ok := q.(*cudaQueue)
		if !ok || own == nil || i == 0 && own.dev != g.dev {
			return errQueue
		}
		if err := own.dev.status.usable(); err != nil {
			return err
		}
		if !slices.Contains(g.devices, own.dev) {
			g.devices = append(g.devices, own.dev)
		}
		e, err := cuNewEvent(own.dev.ctx, false)
		if err != nil {
			return err
		}
		g.streams, g.events = append(g.streams, own.stream), append(g.events, e)
	}
	if len(queues) == 0 {
		return errors.New("from no queue")
	}
	return nil
}

// capture has tasks kept from now on, or run.
func (d *CUDA) capture(on bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if on && (d.tracer.f != nil || d.tracer.detail != nil) {
		return fmt.Errorf("%v is traced", d.info)
	}
	d.capturing, d.refused = on, nil
	return nil
}

func (g *cudaGraph) read() []Counters {
	out := make([]Counters, len(g.devices))
	for i, d := range g.devices {
		d.counts.read(&out[i])
	}
	return out
}

// Replay submits a captured graph.
func (d *CUDA) Replay(graph Graph) error {
	g, ok := graph.(*cudaGraph)
	if !ok || g == nil || g.dev != d {
		return d.err(OpLaunch, nil, errors.New("graph is not this device's"))
	}
	sound := true
	for i, p := range g.devices {
		if err := p.status.usable(); err != nil {
			return p.err(OpLaunch, nil, err)
		}
		p.counts.add(g.counts[i], 1)
		sound = sound && p.status.sound()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return d.err(OpLaunch, nil, ErrClosed)
	}
	if sound {
		if err := cuErr(C.saga_replay(d.ctx, g.exec, &g.streams[0], C.int(len(g.streams)), &g.events[0])); err != nil {
			d.status.fail(d.err(OpLaunch, nil, fmt.Errorf("captured tasks: %w", err)))
		}
	}
	return nil
}

func (g *cudaGraph) free() {
	if g.exec != nil {
		C.saga_drop(g.dev.ctx, g.exec)
		g.exec = nil
	}
	for _, e := range g.events {
		cuCloseEvent(e)
	}
	g.events = nil
}

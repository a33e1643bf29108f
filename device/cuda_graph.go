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

// Updates the executable graph if the new graph has the same kernels and copies in the same order, and otherwise makes a new one.
static int saga_ready(CUgraph g, CUgraphExec *out) {
	CUgraphExecUpdateResultInfo info;
	if (*out) {
		int r = cuGraphExecUpdate(*out, g, &info);
		if (r != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) return r;
		cuGraphExecDestroy(*out);
		*out = NULL;
	}
	return cuGraphInstantiate(out, g, 0);
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
	if (!r && !wrong) r = saga_ready(g, out);
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
)

// cudaCapture is the state of capturing.
type cudaCapture struct {
	on      bool  // submitted tasks are captured and do not run
	refused error // the error of the first task that could not be captured
}

// cudaGraph is captured work and the streams that it was captured from.
type cudaGraph struct {
	dev     *CUDA
	first   *cudaQueue
	exec    C.CUgraphExec
	streams []cuStream
	events  []cuEvent // by stream: the event that joins it to the first; for the first stream: the fork
	counts  Counters  // counts of the captured tasks
}

func (g *cudaGraph) Tasks() int64 { return g.counts.Copies + g.counts.Launches }

// Capture captures what f submits to the queues.
func (d *CUDA) Capture(queues []Queue, f func() error) (Graph, error) {
	g := &cudaGraph{dev: d}
	for _, q := range queues {
		own, err := d.queue(q)
		if err != nil {
			return nil, d.err(OpLaunch, q, err)
		}
		e, err := cuNewEvent(d.ctx, false)
		if err != nil {
			g.free()
			return nil, d.err(OpNewEvent, q, err)
		}
		if g.first == nil {
			g.first = own
		}
		g.streams, g.events = append(g.streams, own.stream), append(g.events, e)
	}
	if len(g.streams) == 0 {
		return nil, d.err(OpLaunch, nil, errors.New("capture from no queue"))
	}
	if err := g.keep(f); err != nil {
		g.free()
		return nil, d.err(OpLaunch, queues[0], err)
	}
	d.mu.Lock()
	d.made.graphs = append(d.made.graphs, g)
	d.mu.Unlock()
	return g, nil
}

// Update replaces what g captured by what f submits.
func (d *CUDA) Update(graph Graph, f func() error) error {
	g, ok := graph.(*cudaGraph)
	if !ok || g == nil || g.dev != d || g.exec == nil {
		return d.err(OpLaunch, nil, errors.New("graph is not this device's"))
	}
	return d.err(OpLaunch, g.first, g.keep(f))
}

// keep captures what f submits, for Capture and Update.
func (g *cudaGraph) keep(f func() error) error {
	d := g.dev
	var before, after Counters
	d.mu.Lock()
	wrong := d.tracer.f != nil || d.tracer.detail != nil
	d.capture.on = !wrong
	d.mu.Unlock()
	if wrong {
		return errors.New("capture while tracing")
	}
	d.counts.read(&before)
	n := C.int(len(g.streams))
	err := cuErr(C.saga_begin(d.ctx, &g.streams[0], n, g.events[0]))
	if err == nil {
		err = f()
		d.mu.Lock()
		err = errors.Join(err, d.capture.refused)
		d.mu.Unlock()
	}
	if end := cuErr(C.saga_end(d.ctx, &g.streams[0], n, &g.events[0], cInt(err != nil), &g.exec)); err == nil {
		err = end
	}
	d.counts.read(&after)
	g.counts = after.less(before)
	d.counts.add(g.counts, -1)
	d.mu.Lock()
	d.capture = cudaCapture{}
	d.mu.Unlock()
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	return nil
}

// Replay submits a captured graph.
func (d *CUDA) Replay(graph Graph) error {
	g, ok := graph.(*cudaGraph)
	if !ok || g == nil || g.dev != d {
		return d.err(OpLaunch, nil, errors.New("graph is not this device's"))
	}
	if err := d.status.usable(); err != nil {
		return d.err(OpLaunch, nil, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return d.err(OpLaunch, nil, ErrClosed)
	}
	d.counts.add(g.counts, 1)
	if d.status.sound() {
		err := d.tracer.around(d, g.first, d.tracer.f, Span{Op: OpLaunch, Kernel: "captured"}, func() error {
			return cuErr(C.saga_replay(d.ctx, g.exec, &g.streams[0], C.int(len(g.streams)), &g.events[0]))
		})
		if err != nil {
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

// add adds x to the counts n times.
func (c *counts) add(x Counters, n int64) {
	c.h2d.Add(n * x.H2D)
	c.d2h.Add(n * x.D2H)
	c.d2d.Add(n * x.D2D)
	c.copies.Add(n * x.Copies)
	c.launches.Add(n * x.Launches)
}

// less is the counts since the earlier reading before.
func (c Counters) less(before Counters) Counters {
	c.H2D, c.D2H, c.D2D = c.H2D-before.H2D, c.D2H-before.D2H, c.D2D-before.D2D
	c.Copies, c.Launches = c.Copies-before.Copies, c.Launches-before.Launches
	return c
}

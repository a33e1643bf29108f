// Package exec runs a plan on devices: it walks the global order, submits each task to its
// queue, and lets events keep the order between queues. It decides nothing.
//
// The files, calls going down the list:
//
//   - exec.go: a runner and its steps. open.go: what it takes before the first.
//   - holds.go: what device memory holds between steps.
//   - capture.go: a step on one GPU as one CUDA graph. submit.go: a step task by task.
//   - launch.go: kernels on GPUs, through the kernel.Renderer of their kind.
//   - task.go: a task as a copy or a launch on a queue.
//   - update.go: the optimiser. rows.go: the rows that loads gather.
//   - learned.go: inputs that steps write. gradients.go: several batches for one update.
//   - batch.go, ahead.go: batches of sampled blocks, and those that come while another is at work.
//   - capture_batch.go: the step of the next batch as a CUDA graph.
//   - drawn.go, far_rows.go: blocks that a GPU drew, and rows that it reads from host memory.
//   - ranks.go, relay.go: what crosses to another rank, and what all ranks get; messages of GPUs through host memory.
//   - arena.go: the memory and the queues that runners share.
//   - trace.go: when tasks ran.
package exec

// Package exec runs a plan on devices: it walks the global order of tasks and submits each task to its
// queue. Events keep the order between queues. The package makes no choices; the plan has made them.
//
// The files; each calls those below it:
//
//   - exec.go: Runner and its steps. open.go: makes and closes a Runner.
//   - holds.go: what device memory holds between steps.
//   - capture.go: a step on one GPU as one CUDA graph. submit.go: a step task by task.
//   - launch.go: kernels on GPUs, through the kernel.Renderer of their kind.
//   - task.go: a task as a copy or a launch on a queue.
//   - update.go: the optimiser. rows.go: lists of the rows that loads gather.
//   - learned.go: inputs that steps write. gradients.go: gradients on the host, for updates from several batches.
//   - batch.go: batches of sampled blocks. ahead.go: loads the next batches during a step.
//   - capture_batch.go: the step of the next batch as a CUDA graph.
//   - drawn.go: blocks that a GPU sampled. far_rows.go: rows that a GPU reads from host memory.
//   - ranks.go: messages between ranks. relay.go: messages between GPUs through host memory.
//   - arena.go: the memory and queues that runners share.
//   - trace.go: times of tasks.
package exec

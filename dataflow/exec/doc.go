// Package exec runs a plan on devices: it submits each task to its queue, in the order of the plan; events keep the order
// between queues. What is computed, where and in which order is the plan's choice. The package chooses how it is submitted: whether
// a step of a GPU is captured as a graph and replayed, and how far the next batch of sampled training comes before its step, whose
// loads then run before the tasks of the step that is at work.
//
// The files, callers first where that is possible:
//
//   - open.go: makes and closes a Runner. exec.go: Runner and its steps.
//   - far_rows.go: rows that a GPU reads from host memory. rows.go: lists of the rows that loads gather.
//   - capture.go: a step on one GPU as one CUDA graph. launch.go: kernels on GPUs, through the kernel.Renderer of their kind.
//   - ahead.go: loads the next batches during a step. capture_batch.go: the step of the next batch as a CUDA graph.
//   - submit.go: a step task by task. gradients.go: gradients on the host, for updates from several batches.
//   - task.go: a task as a copy or a launch on a queue. holds.go: what device memory holds between steps.
//   - learned.go: inputs that steps write. ranks.go: messages between ranks.
//   - relay.go: messages between GPUs through host memory. host.go: values in host memory.
//   - trace.go: times of tasks. names.go: the task that an error belongs to.
//   - update.go: the optimiser. batch.go: batches of sampled blocks. drawn.go: blocks that a GPU sampled.
//   - arena.go: the memory and queues that runners share.
package exec

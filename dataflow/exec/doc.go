// Package exec runs a plan on devices: it submits each task to its queue, in the order of the plan; events keep the order
// between queues. What is computed, where and in which order is the plan's choice. The package chooses how it is submitted: whether
// a step of a GPU is captured as a graph and replayed, and how far the next batch of sampled training comes before its step, whose
// loads then run before the tasks of the step that is at work.
//
// A Runner puts together parts that each have a subject and do not know it. The files, callers first:
//
//   - open.go: makes and closes a Runner. exec.go: Runner and its steps.
//   - ahead.go: steps of batches, while the next ones are loaded. capture_batch.go: the step of the next batch as a CUDA graph.
//   - capture.go: a step on one GPU as one CUDA graph. submit.go: a step task by task.
//   - holds.go: what device memory holds between steps. learned.go: inputs that steps write.
//   - load.go: brings batches to the device. far_rows.go: rows that a GPU reads from host memory. drawn.go: blocks that a GPU
//     sampled. batch.go: a batch.
//   - gradients.go: gradients on the host, for updates from several batches.
//   - task.go: a task as a kernel, and kernels on CPU devices. launch.go: kernels on GPUs, through the kernel.Renderer of their kind.
//     update.go: the optimiser. commands.go: commands of a GPU.
//   - ranks.go: messages between ranks. relay.go: messages between GPUs through host memory.
//   - globals.go: Globals that callers set and read. copies.go: copies of a whole graph. rows.go: lists of the rows that loads gather.
//   - current.go: the batch that a step works on, and its buffer. host.go: values in host memory. trace.go: times of tasks.
//   - names.go: the task that an error belongs to. arena.go: the memory and queues that runners share.
package exec

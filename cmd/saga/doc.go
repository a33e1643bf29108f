// Command saga trains graph neural networks on whole graphs within a budget of
// device memory, and runs what was trained.
//
//	saga train     train a model; without flags on a built-in graph
//	saga plan      what a training epoch would do, without doing it
//	saga evaluate  loss, accuracy, every class and the confusion matrix of a checkpoint
//	saga predict   classes, probabilities, logits or numbers of vertices, edges or graphs, from a checkpoint
//	saga embed     the rows that enter the last layer, or that links are scored by, from a checkpoint
//	saga export    the weights of a checkpoint, under the names of PyTorch Geometric's layers
//	saga sample    samples of neighbourhoods and of subgraphs, as files
//	saga walk      random walks, and vectors of vertices learned from them
//	saga mine      counts and listings of cliques, motifs and patterns
//	saga report    what a run did, as text or a page
//	saga bench     tables of schedules, streaming and passes, simulated and counted
//	saga data      convert, describe, verify and generate graphs
//	saga topo      links of a machine, who loads chunks and the ring they take
//	saga kernels   a model's kernels as CUDA C++
//	saga completion  what makes a shell complete commands and flags
//	saga version   what this program is
//
// Each command is a struct of flags with a method Run, in a file of its name; main.go lists them.
// settings.go and settings_flags.go are the flags that train and plan share, load.go and data_source.go
// the graph, record.go what a run folder keeps.
//
// --mem bounds the memory of a device, --host-mem what lies in host memory beside the
// data set: what does not fit there are files in --scratch.
//
// Results go to standard output, progress and log to standard error; with --json the
// last line of standard output is one JSON object. The exit status is 0 when all
// went well, 1 after a failure, 2 after a mistake in the command line and 130 when
// the run was interrupted.
package main

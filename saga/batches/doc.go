// Package batches makes the batches of sampled training: from a seed and the place of a batch in a run to the filled
// inputs and cells of a step. It knows the data, a sampler and the plan of a step; it knows no model and no Program. Package
// saga says what is learned (Job) and how batches are drawn (Setting), plans a step for the sizes that batches have
// (Rooms), and takes one batch after the other (Source):
//
//	New          Draws: what is drawn for a place depends on job and setting alone
//	Presample    Rooms: the sizes of the first batches; Sets and Ahead say what a plan needs for them
//	Rooms.Maker  Maker: fills batches for one plan
//	Source       has the batches of a device ready, in the order of the run
//	Take         the batch of a place; Release gives its memory back
//
// Programs share an open graph by passing Draws.Graph to New. Answers by blocks, for vertices of the caller's choice,
// are a job whose Items are these vertices: evaluation by sampling is one.
//
// Words: an item is what an epoch goes over (a vertex, edge, link or graph), a seed a vertex from which blocks are drawn, an
// update one batch or several whose gradients are added, a place the epoch and number of a batch, and a way how batches come
// to a device.
//
// The files, from the top:
//
//	source.go feed.go there.go   Source: the host fills batches (feed.go), or the GPU that trains draws them (there.go)
//	sizes.go                     what batches take: host memory, bytes over the link, time
//	maker.go cells.go            a batch for a plan: its inputs and its cells
//	ways.go drawable.go          ways in which batches come to a device, and whether a GPU can draw them
//	presample.go rooms.go        sizes of batches, and those that plans have room for
//	arrivals.go                  which rows come over the link
//	draw.go                      the blocks of a batch
//	relations.go                 what is drawn from each relation, and the blocks over several vertex types
//	past.go                      blocks of edges up to the times of seeds
//	order.go place.go            which items a batch has, and which batches an epoch has
//	graph.go shards.go           the graph that is drawn from, also where ranks have parts of it
//	pairs.go                     blocks of pairs, where items are edges or links
//	setting.go                   Job and Setting
//	kinds.go                     vertex types and relations, and the numbers of their sets
//	clusters.go norms.go kind.go kinds of batches: clusters of vertices, items chosen by norms, items shuffled
//	moments.go                   vertices at times, as the ends of pairs are
//	items.go                     what items are, and their weights
//
// A file calls files that are listed below it.
package batches

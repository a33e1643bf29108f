package main

import (
	"errors"
	"fmt"
	"strings"

	"sagann/dataset"
	"sagann/mine/rows"
	"sagann/sample"
)

// inIDs is err with the ids that vertices have in the user's file, where err names vertices and edges of d by their numbers.
func inIDs(d *dataset.Data, err error) error {
	var directed *rows.DirectedError
	var edge *sample.EdgeError
	switch {
	case errors.As(err, &directed):
		return instead(err, directed, fmt.Sprintf("the graph is directed: there is an edge from %s to %s but none back", d.ID(int(directed.From)), d.ID(int(directed.To))))
	case errors.As(err, &edge) && int(edge.Edge) < d.Edges.E():
		return instead(err, edge, fmt.Sprintf("the edge from %s to %s has %s", d.ID(int(d.Edges.Src[edge.Edge])), d.ID(int(d.Edges.Dst[edge.Edge])), edge.Has))
	}
	return err
}

// instead is err with another text for a part of it.
func instead(err, part error, text string) error {
	return &renamed{err, strings.Replace(err.Error(), part.Error(), text, 1)}
}

// renamed is an error with another text.
type renamed struct {
	err  error
	text string
}

func (r *renamed) Error() string { return r.text }
func (r *renamed) Unwrap() error { return r.err }

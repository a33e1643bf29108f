package layers

import (
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// HeteroGraph is the golden graph of several types.
func HeteroGraph(t *testing.T) *dataset.Hetero { return readHetero(t).graph(t) }

// HeteroModels are the golden models over it.
func HeteroModels() map[string]saga.Model { return heteroModels() }

package cuda

import (
	_ "embed"
	"fmt"
)

// sortText places keys by digits.
//
//go:embed sort.cu
var sortText string

const (
	digits    = 256
	sortBlock = 256 // threads
)

// sortEach is the keys of a thread. Tests have fewer.
var sortEach = 16

// sortTile is the keys of a block.
func sortTile() int { return sortBlock * sortEach }

// sortShared is the shared memory of a block: its keys, counts and places by digit, sums.
func sortShared() int { return 8*sortTile() + 4*(8*digits+3*digits) + 32 }

func sorts() string { return prelude + fmt.Sprintf("#define EACH %d\n", sortEach) + sortText }

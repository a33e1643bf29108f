package cuda

import (
	_ "embed"

	"sagann/kernel"
)

// optimizerNames are the kernels of optimizerSource.
var optimizerNames = map[kernel.Optimizer]string{kernel.SGD: "sgd", kernel.Momentum: "momentum", kernel.Adam: "adam", kernel.AdamW: "adamw"}

// optimizerSource updates parameters, one thread a number. A thread that writes a NaN or
// an infinity notes the parameter and the epoch; the first note stays. average moves running
// statistics towards those of the epoch, whatever the optimiser.
//
//go:embed optimizer.cu
var optimizerSource string

package main

import (
	"fmt"

	"sagann/device"
)

// cacheVertices are numbers of rows of 128 floats. A slice of 32 columns of all rows
// takes from 7.5 to 128 MB.
var cacheVertices = []int{58_000, 117_000, 175_000, 233_000, 291_000, 350_000, 466_000, 600_000, 800_000, 1_000_000}

// cacheRates prints the rate of gather-sums for slices of several sizes. The size at which the rate falls is
// the part of the cache that holds rows for every multiprocessor.
func cacheRates() error {
	d, err := device.OpenCUDA(0, 16<<30)
	if err != nil {
		return err
	}
	defer d.Close()
	b := &bench{dev: d.(device.GPU)}
	fmt.Println("| vertices | slice, MB | gather-sum, ms | GB/s gathered |\n|---|---|---|---|")
	for _, v := range cacheVertices {
		const edges, f = 23_200_000, 128
		t, err := b.gatherSum(drawCSR("uniform", v, edges, false), f, false)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.1f | %.4f | %.0f |\n", v, float64(v)*128/1e6, t, edges*f*4/t/1e6)
	}
	return nil
}

package main

func Example() {
	main()
	// Output:
	// [0 8 5 16 6 21 1 13 33 20 32]
	// [16 5 10 4 0 3 7 1 13 0 5]
	// [33 9 2 7 1 3 28 20 33 15 32]
	// visits from vertex 0 to its neighbour 1 and to the far side's 26: 8050 314
}

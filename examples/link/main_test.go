package main

func Example() {
	main()
	// Output: in 12 chunks, test AUC above 0.8: true
}

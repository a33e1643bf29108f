package main

func Example() {
	main()
	// Output:
	// triangles: 45
	// star4            1098
	// path4            681
	// tailed-triangle  452
	// cycle4           36
	// diamond          85
	// clique4          11
	// mixed: [2 8 32]
	// mixed: [30 32 8]
	// mixed: [30 33 8]
}

package main

func Example() {
	main()
	// Output:
	// triangles: 45
	// 1098  star4
	// 681  path4
	// 452  tailed-triangle
	// 36  cycle4
	// 85  diamond
	// 11  clique4
}

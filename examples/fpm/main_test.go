package main

func Example() {
	main()
	// Output:
	// 0:0 1:0 0-1            support 17 edge
	// 0:1 1:1 0-1            support 17 edge
	// 0:0 1:1 0-1            support 6 edge
	// 0:0 1:0 2:0 0-1 0-2 1-2 support 16 triangle
	// 0:1 1:1 2:1 0-1 0-2 1-2 support 16 triangle
	// members of side 1 with a friend on side 0: [9 27 28 30 31 32 33]
	// pairs of friendships by ends on side 1: map[0:199 1:59 2:14 3:77 4:179]
	// 0:0 1:0 2:0 0-2 1-2    199 instances
	// 0:1 1:1 2:1 0-2 1-2    179 instances
	// 0:0 1:1 2:1 0-2 1-2    77 instances
	// 0:0 1:0 2:1 0-1 1-2    59 instances
}

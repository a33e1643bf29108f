package main

func Example() {
	main()
	// Output: attention layer1.rev_writes.a, layer1.writes.a, layer2.writes.a; test accuracy above 0.9: true
}

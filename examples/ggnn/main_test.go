package main

func Example() {
	main()
	// Output: test accuracy above 0.9: true
}

package main

func Example() {
	main()
	// Output: within half a mebibyte, test accuracy above 0.9: true
}

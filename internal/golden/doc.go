// Package golden runs text scripts. A script is a file with commands, their inputs and the
// output that is expected of them. The flag -rewrite updates the expected output.
//
// A script is a sequence of blocks, comments and blank lines between them:
//
//	# a comment
//	command name key=value list=(a,b)
//	input, any number of lines
//	----
//	expected output, up to a blank line
//
// Output with blank lines is enclosed in doubled separators:
//
//	command
//	----
//	----
//	first
//
//	last
//	----
//	----
//
// After an intended change, go test ./pkg -rewrite replaces the expected output by the results of the
// commands. Everything else in the file is unchanged. The package is for tests only.
package golden

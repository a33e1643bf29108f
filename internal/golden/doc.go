// Package golden runs text scripts: commands and their inputs stand in a file
// beside the output that is expected of them, so that a test reads as a
// conversation and is brought up to date with the flag -rewrite.
//
// A script is a sequence of blocks, comments and blank lines between them:
//
//	# a comment
//	command name key=value list=(a,b)
//	input, any number of lines
//	----
//	expected output, up to a blank line
//
// Output that has blank lines in it stands between doubled separators:
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
// After a change that is meant, go test ./pkg -rewrite puts what the commands
// return in the place of what was expected; everything else in the file stays as
// it was. The package is for tests only.
package golden

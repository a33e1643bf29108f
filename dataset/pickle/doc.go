// Package pickle reads Python pickles as plain records.
//
// Nothing that a pickle names is imported and nothing is called: a class or a
// function is its name, what a pickle makes of it is a Record of its arguments,
// items and state. Read knows protocols 0 to 5, checks every length against the
// bytes that are there before it allocates, and does work in proportion to the file.
package pickle

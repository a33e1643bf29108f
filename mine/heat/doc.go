// Package heat says how many bytes an extension of a table reads from host memory if the neighbours of some vertices, their rows, lie on a card. It is
// pure: reads are given, nothing is moved.
//
// An extension reads the rows of all vertices of its frontier, the table so far. A Cache chooses the rows that lie on the card before each extension,
// by one of several policies. Those that did not lie there are copied when they are read first; rows that are not chosen are read over the link each time. A Pager
// copies every row that is read, and gives up the one that was not read for longest.
//
// The files: heat.go (policies), pager.go (every row is copied).
package heat

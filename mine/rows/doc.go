// Package rows holds the graph that is mined: for each vertex the sorted list of its
// neighbours, in the order of the user's numbers or in order of degree.
package rows

// Package tcp joins ranks over plain sockets, where there is no MPI: a net.Link (tcp.go). Every rank is told the addresses of all and its
// number, and listens at its own.
//
// Each pair of ranks has a connection for every tag that they use (pipes.go), so a message waits for no other, and
// each rank has one with the first for heartbeats, farewells and leaving (control.go). A rank whose connection breaks is
// given up at once; one that is silent for nearly the timeout, too. Nothing is encrypted, and who can reach the ports can join.
package tcp

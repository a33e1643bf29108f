// Package tcp is a net.Link over TCP sockets, for machines without MPI (tcp.go). Every rank is given its number
// and the addresses of all ranks, and listens at its own address.
//
// Each pair of ranks has a connection for every tag that they use (pipes.go), so messages with different tags do
// not wait for each other. Each rank also has a control connection with rank 0 (control.go). All ranks
// end when the control connection of one breaks, or when one sends no heartbeat for nearly the timeout.
// Nothing is encrypted, and anyone who can reach the ports can join.
package tcp

// Package tcp is a net.Link over TCP sockets, for machines without MPI (tcp.go). Every rank is given its number
// and the addresses of all ranks, and listens at its own address.
//
// Each pair of ranks has a connection for every tag that they use (pipes.go), so messages with different tags do
// not wait for each other. Each rank also has a control connection with rank 0 (control.go). All ranks
// end when the control connection of one breaks, or when one sends no heartbeat for nearly the timeout.
//
// A connection begins with a greeting (greeting.go), and those that have not greeted yet are few (door.go). With a
// secret that all ranks know (secret.go) connections are TLS 1.3, and nobody else can join or read. Without one anyone
// who reaches the ports can; so Open wants a secret unless all ranks are of one host, or the network is said to be
// trusted.
package tcp

// Package devicetest is the contract that every device keeps, as a test suite:
// copies come back as they went, tasks of a queue run in order, events order
// queues however often they are recorded, the budget holds to the byte, errors
// surface once and stay, Close frees all.
//
// A device's own tests call [Run]; those of a device that moves no data call
// [RunCounts], which is the part of the suite about memory, arguments and
// counters. Run both with and without the race detector.
package devicetest

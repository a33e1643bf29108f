// Package devicetest is the contract of all devices, as a test suite. Data copied to a device and back
// is unchanged. Tasks of a queue run in order. Events order queues however often they are recorded.
// The budget is kept to the byte. An asynchronous error is reported once, and the device
// stays failed. Close frees everything.
//
// A device's own tests call [Run]. Tests of a device that moves no data call
// [RunCounts], the part of the suite about memory, arguments and
// counters. Run them with and without the race detector.
package devicetest

// Package view draws plans: dot.go as a graph for Graphviz, html.go as an HTML page with memory and queues.
package view

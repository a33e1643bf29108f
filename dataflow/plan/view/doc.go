// Package view shows plans: dot.go as a graph for Graphviz, html.go as one page with memory and queues.
package view

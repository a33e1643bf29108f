// Package runpage makes report.html: one page that says what a training run has learned, what
// its epochs took and with which settings it ran, or several runs side by side. The page
// loads nothing from anywhere, and its policy forbids it.
//
// In the order of the work:
//
//	record.go   report.json: what a run knows beside config.json and metrics.csv
//	read.go     a run folder read back
//	classes.go  precision, recall, F1 and confusions from counts
//	charts.go   curves as the page's script draws them
//	text.go     numbers with their units
//	page.go     the page of one run
//	several.go  the page of several runs
//	page.html, style.css, chart.js
package runpage

// Package runpage makes report.html: a page about one training run, with its results, the time and memory of
// its epochs and its settings; or a page that compares several runs. The page
// loads nothing from other places, and its content security policy forbids that.
//
// In the order of the work:
//
//	record.go   report.json: facts about a run that are not in config.json and metrics.csv
//	read.go     reads a run folder
//	classes.go  precision, recall, F1 and confusions from counts
//	charts.go   curves as the page's script draws them
//	text.go     numbers with their units
//	timeline.go   the last traced epoch, and which settings are not the defaults
//	page.go     the page of one run
//	several.go  the page of several runs
//	page.html, style.css, chart.js
package runpage

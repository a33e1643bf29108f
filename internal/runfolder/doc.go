// Package runfolder keeps what one training run leaves behind in a folder of its
// own, saga-run-0001 and so on:
//
//	config.json    what was asked for
//	log.txt        the log, appended to when the run is resumed
//	metrics.csv    one line an epoch
//	loss.png ...   curves drawn from metrics.csv, also as .svg
//
// Checkpoints, traces and report.html with its report.json are written there by their own
// packages. A run never writes into the folder of another: [Create] takes a number that is
// free, and only [Open] goes back to an old one, in order to resume it.
package runfolder

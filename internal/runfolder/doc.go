// Package runfolder writes and reads the folder of a training run, saga-run-0001 and so
// on:
//
//	config.json    the settings
//	log.txt        the log, appended to when the run is resumed
//	metrics.csv    one line for each epoch
//	loss.png ...   curves drawn from metrics.csv, also as .svg
//
// Other packages write checkpoints, traces and report.html with its report.json to the folder. A
// run never writes into the folder of another run: [Create] takes a free number. Only [Open] opens an
// existing folder, to resume its run.
package runfolder

package runpage

// RecordFile is the file in a run folder that holds a Record as JSON.
const RecordFile = "report.json"

// PageFile is the page in a run folder.
const PageFile = "report.html"

// Record is what a run knows of itself beside its settings and the lines of metrics.csv.
type Record struct {
	State      string   `json:"state"` // how it ended: Finished, Stopped or Interrupted
	Model      string   `json:"model"`
	Parameters int      `json:"parameters"` // numbers that are learned
	Data       string   `json:"data"`       // name of the graph
	Graph      string   `json:"graph"`      // its numbers in words
	Metric     string   `json:"metric"`     // of the splits in metrics.csv, such as "accuracy"
	Epochs     int      `json:"epochs"`
	BestEpoch  int      `json:"best_epoch"` // of the lowest validation loss; 0 without validation
	Kept       int      `json:"kept_epoch"` // whose parameters the checkpoint gives
	Classes    *Classes `json:"classes,omitempty"`
	NoClasses  string   `json:"no_classes,omitempty"` // why there are none
	Times      *Times   `json:"times,omitempty"`      // nil when no epoch was traced
	Memory     Memory   `json:"memory"`
	Links      []Link   `json:"links"`
	Versions   []Fact   `json:"versions"`
}

// How a run ended.
const (
	Finished    = "finished"
	Stopped     = "stopped early"
	Interrupted = "interrupted"
)

// Fact is a name and what it stands for, as text.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Times says what an epoch's time went to, in seconds, as means of the traced epochs.
type Times struct {
	Epochs  int     `json:"epochs"` // traced
	Wall    float64 `json:"wall_seconds"`
	Compute float64 `json:"compute_seconds"` // that kernels ran, added over devices
	H2D     float64 `json:"h2d_seconds"`     // that copies took, added over devices
	D2H     float64 `json:"d2h_seconds"`
	D2D     float64 `json:"d2d_seconds"`
	Exposed float64 `json:"exposed_seconds"` // of copies behind which no kernel ran, added over devices
	Idle    float64 `json:"idle_seconds"`    // in which nothing ran
	Work    []Work  `json:"work"`            // of the last traced epoch, the longest first
}

// Work is what tasks of a kind took in one epoch.
type Work struct {
	Name    string  `json:"name"`
	Tasks   int     `json:"tasks"`
	Bytes   int64   `json:"bytes"` // that copies moved
	Seconds float64 `json:"seconds"`
}

// Memory is what a run holds, in bytes.
type Memory struct {
	Budget int64  `json:"budget_bytes"` // of each device
	Peak   int64  `json:"peak_bytes"`   // of a device
	Host   int64  `json:"host_bytes"`   // beside the data
	Disk   int64  `json:"disk_bytes"`   // in files that stand for host memory
	Parts  []Part `json:"parts"`        // of device memory where most is in use, the largest first
}

// Part is one buffer of device memory.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Whole bool   `json:"whole_run"` // in use all the time, not for a part of the epoch
}

// Link is what crosses a link in an epoch, in bytes.
type Link struct {
	Name string `json:"name"`
	Down int64  `json:"down_bytes"` // towards the devices
	Up   int64  `json:"up_bytes"`
}

package runpage

// RecordFile is the file in a run folder that holds a Record as JSON.
const RecordFile = "report.json"

// PageFile is the page in a run folder.
const PageFile = "report.html"

// Record is the facts about a run beside its settings and the lines of metrics.csv.
type Record struct {
	State      string   `json:"state"` // how it ended: Finished, Stopped or Interrupted
	Model      string   `json:"model"`
	Parameters int      `json:"parameters"` // numbers that are learned
	Data       string   `json:"data"`       // name of the graph
	Graph      string   `json:"graph"`      // its numbers of vertices, edges and so on, as text
	Metric     string   `json:"metric"`     // the metric of the splits in metrics.csv, such as "accuracy"
	Epochs     int      `json:"epochs"`
	BestEpoch  int      `json:"best_epoch"` // epoch with the lowest validation loss; 0 without validation
	Kept       int      `json:"kept_epoch"` // epoch whose parameters are in the checkpoint
	Classes    *Classes `json:"classes,omitempty"`
	NoClasses  string   `json:"no_classes,omitempty"` // why there are none
	Times      *Times   `json:"times,omitempty"`      // nil when no epoch was traced
	Memory     Memory   `json:"memory"`
	Links      []Link   `json:"links"`
	Versions   []Fact   `json:"versions"`
	Changed    []string `json:"changed,omitempty"` // settings that are not the defaults
}

// How a run ended.
const (
	Finished    = "finished"
	Stopped     = "stopped early"
	Interrupted = "interrupted"
)

// Fact is a name and its value, as text.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Times says how an epoch's time was spent: means over the traced epochs, in seconds.
type Times struct {
	Epochs  int     `json:"epochs"` // traced
	Wall    float64 `json:"wall_seconds"`
	Compute float64 `json:"compute_seconds"` // time of kernels, added over devices
	H2D     float64 `json:"h2d_seconds"`     // time of copies, added over devices
	D2H     float64 `json:"d2h_seconds"`
	D2D     float64 `json:"d2d_seconds"`
	Exposed float64 `json:"exposed_seconds"` // time of copies during which no kernel ran, added over devices
	Idle    float64 `json:"idle_seconds"`    // time in which nothing ran
	Work    []Work  `json:"work"`            // work of the last traced epoch, the longest first
}

// Work is the time that all tasks of one kind took in an epoch.
type Work struct {
	Name    string  `json:"name"`
	Tasks   int     `json:"tasks"`
	Bytes   int64   `json:"bytes"` // that copies moved
	Seconds float64 `json:"seconds"`
}

// Memory is the memory of a run, in bytes.
type Memory struct {
	Budget int64  `json:"budget_bytes"` // of each device
	Peak   int64  `json:"peak_bytes"`   // of a device
	Host   int64  `json:"host_bytes"`   // host memory beside the data
	Disk   int64  `json:"disk_bytes"`   // files used as host memory
	Parts  []Part `json:"parts"`        // the buffers in device memory at the peak, the largest first
}

// Part is one buffer of device memory.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Whole bool   `json:"whole_run"` // in use during the whole run, not only a part of the epoch
}

// Link is the bytes that cross a link in an epoch.
type Link struct {
	Name string `json:"name"`
	Down int64  `json:"down_bytes"` // towards the devices
	Up   int64  `json:"up_bytes"`
}

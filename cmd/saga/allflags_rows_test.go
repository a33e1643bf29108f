package main

// flagBase are the arguments with which a command runs where a row has no others. A row's %s is where files go.
var flagBase = map[string]string{
	"train":   "--data g.saga --epochs 2 --out o/run",
	"plan":    "--data g.saga",
	"kernels": "--data g.saga",

	"report":   "run --out o/report.html",
	"evaluate": "run",
	"predict":  "run --out o/p.csv",
	"export":   "run --pyg o/w.pt",
	"embed":    "run --out o/e.csv",
	"sample":   "--data g.saga --sampler neighbours:2,2 --out o/s.csv",
	"walk":     "--data w.saga --length 5 --out o/w.txt",

	"mine clique": "--data karate",
	"mine match":  "--data karate --pattern path3",
	"mine motif":  "--data karate",
	"mine fpm":    "--data labelled.saga --support 2 --edges 2",

	"data convert":  "g.saga --out o/c.saga",
	"data info":     "g.saga",
	"data verify":   "g.saga",
	"data shard":    "g.saga --owners 2 --out o/shards",
	"data generate": "vertices=50,edges=200,features=3,classes=2 --out o/g.saga",
	"topo":          "--machine p100x8",

	"bench streaming": "--models gcn --copies 1",
	"bench ring":      "--graphs enwiki --models gcn --devices 1,2 --chunks 4",
	"bench epoch":     "--data g.saga --models gcn --epochs 1",
	"bench schedules": "--models gcn --layers 1 --chunks 2",
	"bench ablation":  "--models gcn --layers 1 --hidden 8 --work 1000 --shape " + smallShape,
	"bench kernels":   "--data g.saga --models gcn --epochs 1",
	"bench sample":    "--data karate --samplers deepwalk --times 1 --length 3",
	"bench mine":      "--data karate --tables cliques --k 3",
	"bench embed":     "--shapes 100x200",
	"bench auto":      "--models mlp " + autoCase,
}

// flagNeeds are arguments that a command needs, and that are added where a row does not have their first word.
var flagNeeds = map[string]string{
	"train":        "--out o/run",
	"data convert": "--out o/c.saga",
	"data shard":   "--out o/shards --owners 2",
	"mine match":   "--pattern path3",
	"mine fpm":     "--support 2 --edges 2",
}

// flagRows say how each flag shows: by command and flag, for all commands of train's settings by "settings" and flag, or
// for every command that has it by the flag alone. Rows of settings name what stands beside flagBase, behind a +.
var flagRows = map[string]flagRow{
	"settings data":           {with: "--epochs 2", value: "w.saga"},
	"settings undirected":     {idle: "--shape vertices=60,edges=300,features=6,classes=3"},
	"settings simple":         {idle: "--shape vertices=60,edges=300,features=6,classes=3"},
	"settings split":          {value: "0.5,0.3", idle: "--shape vertices=60,edges=300,features=6,classes=3"},
	"settings split-time":     {with: "+--data timed.saga", value: "4,6", idle: "--shape vertices=60,edges=300,features=6,classes=3"},
	"settings split-seed":     {value: "7", idle: "+--data splits.saga"},
	"settings task":           {value: "link"},
	"settings target":         {why: "of graphs with several types: types.txtar of testdata/data"},
	"settings features":       {value: "degree"},
	"settings embedding-init": {with: "+--features embedding:4", value: "normal", idle: "+"},
	"settings virtual-node":   {with: "+--data graphs.saga --model gin", idle: "+--model gin"},
	"settings row-normalize":  {value: "on", idle: "+--features identity"},
	"settings model":          {value: "gin"},
	"settings hidden":         {value: "7", idle: "+--layers 1"},
	"settings layers":         {value: "3", idle: "+--model sgc"},
	"settings steps":          {with: "+--model sgc", value: "3", idle: "+--model gcn"},
	"settings heads":          {with: "+--model gat", value: "3", idle: "+--model gcn"},
	"settings dropout":        {value: "0.5"},
	"settings normalize":      {value: "none", idle: "+--model sage"},
	"settings activation":     {value: "tanh", idle: "+--layers 1"},
	"settings norm":           {value: "layer", idle: "+--layers 1"},
	"settings residual":       {idle: "+--layers 1"},
	"settings jk":             {value: "cat"},
	"settings project":        {idle: "+--model hgt"},
	"settings theta":          {with: "+--model gcn2", value: "2", idle: "+"},
	"settings bases":          {with: "+--model rgcn", value: "2", idle: "+"},
	"settings blocks":         {with: "+--model rgcn", value: "2", idle: "+"},
	"settings edge-data":      {with: "+--data numbers.saga --model gat", value: "on", idle: "+"},
	"settings alpha":          {with: "+--model appnp", value: "0.5", idle: "+--model gcn"},
	"settings readout":        {with: "+--data graphs.saga --model gin", value: "sum", idle: "+--model gin"},
	"settings bias":           {value: "off", idle: "+--model sage"},
	"settings init":           {with: "+--model sage", value: "glorot", idle: "+--model gcn"},
	"settings self-loops":     {value: "off", idle: "+--model mlp == on"},
	"settings head":           {with: "+--task link", value: "mlp", idle: "+"},
	"settings width":          {with: "+--task link", value: "5", idle: "+"},
	"settings relation":       {why: "of graphs with several types: types_test.go"},
	"settings reverse":        {why: "of graphs with several relations: reverse.txtar"},
	"settings disjoint":       {with: "+--task link", value: "0.3", idle: "+"},
	"settings epochs":         {with: "--data g.saga", value: "3"},
	"settings lr":             {value: "0.02"},
	"settings lr-decay":       {with: "+--lr-decay-every 1", value: "0.5", idle: "+"},
	"settings lr-decay-every": {with: "+--lr-decay 0.5", value: "1", idle: "+"},
	"settings weight-decay":   {value: "0.1"},
	"settings decay":          {with: "+--weight-decay 0.1", value: "all", idle: "+"},
	"settings optimizer":      {value: "sgd"},
	"settings momentum":       {with: "+--optimizer sgd", value: "0.5", idle: "+"},
	"settings clip-norm":      {value: "0.01"},
	"settings eval-every":     {value: "2"},
	"settings patience":       {with: "+--lr 1 --epochs 8", value: "1"},
	"settings loss":           {with: "+--data t.saga", value: "mae"},
	"settings huber-delta":    {with: "+--data t.saga --loss huber", value: "0.5", idle: "+"},
	"settings class-weights":  {value: "balanced", idle: "+--data m.saga"},
	"settings pos-weights":    {with: "+--data m.saga", value: "balanced", idle: "+"},
	"settings ema":            {value: "0.9"},
	"settings from":           {value: "run"},
	"settings freeze":         {value: "layer1"},
	"settings seed":           {value: "2"},
	"settings sample":         {value: "3,3"},
	"settings sampler":        {value: "saint:20x2"},
	"settings sample-norm":    {with: "+--sample 2,2", value: "full", idle: "+"},
	"settings sample-time":    {with: "+--sample 2,2 --model sage --data timed.saga", value: "latest", idle: "+"},
	"settings eval-sample":    {with: "+--sample 2,2", value: "3,3", idle: "+"},
	"settings batch":          {with: "+--sample 2,2", value: "7", idle: "+"},
	"settings accumulate":     {with: "+--sample 2,2 --batch 7", value: "2", idle: "+"},
	"settings lr-schedule":    {value: "cosine"},
	"settings warm-up":        {value: "2"},
	"settings lr-min":         {with: "+--lr-schedule cosine", value: "0.001", idle: "+"},
	"settings lr-factor":      {with: "+--lr-schedule plateau --lr-patience 0 --lr 1 --epochs 8", value: "0.5", idle: "+"},
	"settings lr-patience":    {with: "+--lr-schedule plateau --lr 1 --epochs 8", value: "0", idle: "+"},
	"settings lr-epochs":      {with: "+--lr-schedule cosine", value: "5", idle: "+"},
	"settings device":         {value: "cpu:2"},
	"settings mem":            {value: "64KiB"},
	"settings cache":          {why: "of GPUs: sampled_gpu_test.go of package saga; on a CPU it is said: baddata.txtar"},
	"settings host-mem":       {value: "1GiB"},
	"settings scratch":        {with: "+--host-mem 40KiB", value: "o", idle: "+"},
	"settings ring":           {with: "+--device cpu:2 --chunks 2", value: "off", idle: "+"},
	"settings tf32":           {idle: "+"},
	"settings machine":        {value: "h200"},
	"settings chunks":         {value: "3"},
	"settings schedule":       {with: "+--chunks 3", value: "stage", idle: "+"},
	"settings save":           {value: "all"},
	"settings storage":        {value: "bf16"},
	"settings slices":         {with: "+--hidden 128", value: "2", idle: "+--model mlp"},
	"settings prefetch":       {with: "+--chunks 3 --mem 40KiB", value: "1", idle: "+"},
	"settings without":        {value: "hoist"},
	"settings paper":          {},
	"settings config":         {value: "config.json"},

	"kernels self-loops": {value: "off"},
	"kernels steps":      {with: "+--model appnp --steps 1", value: "3", idle: "+"},
	"kernels mem":        {with: "--model ggcn", value: "2GiB"},
	"kernels slices":     {with: "--model gcn", value: "2"},
	"kernels storage":    {with: "--model gcn", value: "bf16"},
	"kernels from":       {why: "kernels do not depend on weights", idle: "+ == run"},
	"plan add":           {why: "tables: added.txtar of testdata", idle: "--shape vertices=60,edges=300,features=6,classes=3 == e.csv,v.csv"},
	"plan vertices":      {value: "1,2", idle: "--shape vertices=60,edges=300,features=6,classes=3"},
	"plan from":          {why: "a plan does not depend on weights", idle: "+ == run"},
	"pyg":                {value: "o/other.safetensors"},
	"export split":       {value: "o/parts"},
	"plan ring":          {why: "of what moves between GPUs: schedules.txt of package planner", idle: "+"},

	"shape":      {with: "--model gin", value: "vertices=600,edges=3000,features=6,classes=3"},
	"plan hosts": {with: "--shape vertices=1e6,edges=1e7,features=6,classes=3 --machine h200x4", value: "2"},
	"devices":    {with: "+", value: "2"},
	"explain":    {},
	"dump":       {value: "hoist"},
	"dot":        {},
	"html":       {value: "o/p.html"},
	"json":       {},

	"train out":                {with: "--data g.saga --epochs 2 --out o/run --json", value: "o/other"},
	"train checkpoint-every":   {why: "files of a run that is killed: TestKill"},
	"train checkpoint-batches": {why: "files of a run that is killed: TestKill"},
	"train checkpoint-minutes": {why: "files of a run that is killed: TestKill"},
	"train resume":             {with: "--data g.saga --epochs 2 --out o/run", value: "run"},
	"train trace":              {value: "o/trace", idle: "+--sample 2,2"},
	"train verbose":            {},
	"train repeat":             {with: "--data g.saga --epochs 2 --out o/run --json", value: "2"},
	"train owners":             {value: "2"},
	"train peers":              {why: "of several ranks: peers_test.go"},
	"train peers-secret":       {why: "of several ranks: secret_test.go"},
	"train peers-open":         {why: "of several ranks: secret_test.go"},
	"train listen":             {why: "of several ranks: peers_test.go"},
	"train scratch":            {why: "of files without names, and of full disks: hostmem.txtar, savefull_test.go of package saga"},
	"train rank":               {value: "1"},
	"train nccl":               {value: "off"},
	"train net-timeout":        {value: "5s"},

	"report out":          {value: "o/other.html"},
	"evaluate checkpoint": {with: "run --on val", value: "other"},
	"out":                 {value: "o/other.npy"},
	"data":                {with: "+", value: "h.saga"},

	"device":           {why: "results do not depend on it: ranks_test.go of package layers"},
	"mem":              {value: "1KiB"},
	"host-mem":         {value: "1"},
	"scratch":          {why: "files without names: hostmem.txtar", idle: "+"},
	"evaluate ranking": {why: "of links: triples.txtar of testdata"},
	"evaluate on":      {value: "val"},

	"evaluate csv-safe":   {with: "run --data named.saga --on all --out o/e.csv", idle: "run"},
	"predict csv-safe":    {with: "+--data named.saga", idle: "run --out o/p.npy"},
	"embed vertices":      {value: "2,0", idle: "--data g.saga --walks deepwalk --out o/e.csv"},
	"embed add":           {why: "tables: added.txtar of testdata", idle: "--data g.saga --walks deepwalk --out o/e.csv"},
	"predict add":         {why: "tables: added.txtar of testdata", idle: ofWeights},
	"embed type":          {why: "several types: sampledtypes.txtar", idle: "--data g.saga --walks deepwalk --out o/e.csv"},
	"predict vertices":    {value: "2,0", idle: ofWeights},
	"embed csv-safe":      {with: "+--data named.saga", idle: "run --out o/e.npy"},
	"sample csv-safe":     {with: "--data named.saga --sampler neighbours:2,2 --out o/s.csv", idle: "--data g.saga --out o/s.npy"},
	"mine match csv-safe": {with: "--data named.saga --out o/m.csv", idle: "+"},
	"mine fpm csv-safe":   {with: "--data named.saga --domains o/d.csv", idle: "+"},

	"checkpoint":   {value: "other"},
	"write":        {value: "logits"},
	"predict data": {with: "+--write logits", value: "h.saga"},
	"weights":      {value: "w.pt"},
	"classes":      {with: ofWeights, value: "5", idle: "+"},
	"pairs":        {with: "+", value: "pairs.txt"},

	"embed data":            {with: "+", value: "h.saga"},
	"embed walks":           {with: "--data g.saga --children 2 --out o/e.csv", value: "deepwalk"},
	"embed length":          {with: walked, value: "3", idle: "+"},
	"embed per-vertex":      {with: walked, value: "3", idle: "+"},
	"embed dims":            {with: walked, value: "3", idle: "+"},
	"embed window":          {with: walked, value: "3", idle: "+"},
	"embed negative":        {with: walked, value: "3", idle: "+"},
	"embed walk-epochs":     {with: walked, value: "3", idle: "+"},
	"embed rate":            {with: walked, value: "0.5", idle: "+"},
	"embed seed":            {with: walked, value: "3", idle: "+"},
	"embed undirected":      {with: walked, idle: "+"},
	"embed children":        {with: walked, value: "3"},
	"embed leaves":          {with: "--data g.saga --children 2 --out o/e.csv", value: "3", idle: "+"},
	"embed weights":         {with: "--data g.saga --children 2 --out o/e.csv", value: "nowhere", idle: "+"},
	"embed width":           {with: "--data g.saga --children 2 --out o/e.csv", value: "3", idle: "--data g.saga --children 2 --weights nowhere --out o/e.csv"},
	"embed bf16":            {with: "--data g.saga --children 2 --out o/e.csv", idle: "+"},
	"embed self-neighbours": {with: "--data g.saga --children 2 --out o/e.csv", idle: "+"},
	"embed device":          {why: "results do not depend on it: ranks_test.go of package layers", idle: "--data g.saga --children 2 --out o/e.csv == cpu:2"},

	"undirected":            {},
	"seed":                  {value: "2"},
	"sample sampler":        {value: "ladies:8"},
	"sample self-loops":     {},
	"sample seeds":          {value: "train"},
	"sample batch":          {value: "7", idle: "--data g.saga --sampler saint:4x2 --out o/s.csv"},
	"sample replace":        {},
	"sample device":         {value: "cpu:2"},
	"sample mem":            {value: "1GiB"},
	"walk seeds":            {value: "seeds.txt", idle: "--data g.saga --walks multirw:3 --out o/w.txt"},
	"walk walks":            {value: "node2vec:p=2,q=0.5"},
	"walk length":           {value: "3"},
	"walk per-vertex":       {value: "3"},
	"walk device":           {value: "cpu:2"},
	"walk mem":              {value: "1GiB"},
	"relabel":               {with: "--data gaps.txt", value: "never", idle: "--data g.saga"},
	"labels":                {value: "nowhere.npy"},
	"mine device":           {value: "cpu:2"},
	"threads":               {why: "results do not depend on it: brute_test.go of package mine"},
	"engine":                {with: "+--json", value: "loops"},
	"mine without":          {why: "results do not depend on it: brute_test.go of package mine"},
	"k":                     {value: "4"},
	"pattern":               {value: "triangle"},
	"induced":               {},
	"edge-induced":          {},
	"mine match out":        {value: "o/m.csv"},
	"mine match limit":      {with: "+--out o/m.csv", value: "2", idle: "+"},
	"mine undirected":       {why: "a directed graph is refused without: mine.txtar"},
	"mine fpm support":      {value: "30"},
	"mine fpm edges":        {value: "1"},
	"mine fpm vertices":     {value: "2"},
	"mine fpm by":           {value: "frequency"},
	"mine fpm atleast":      {},
	"mine fpm plain-edges":  {with: "--data typed.saga --edges 2"},
	"mine fpm top":          {value: "1"},
	"mine fpm resume":       {value: "o/kept"},
	"mine fpm out":          {value: "o/f.csv"},
	"mine fpm domains":      {value: "o/d.csv"},
	"mine fpm examples":     {value: "1"},
	"mine fpm peers":        {why: "of several ranks: peers_test.go"},
	"mine fpm peers-secret": {why: "of several ranks: secret_test.go"},
	"mine fpm peers-open":   {why: "of several ranks: secret_test.go"},
	"mine fpm listen":       {why: "of several ranks: peers_test.go"},
	"mine fpm rank":         {value: "1"},
	"mine fpm net-timeout":  {value: "5s"},
	"simple":                {},
	"mask":                  {why: "of files with several splits: TestMask of package dataset"},
	"edges":                 {with: "g.saga", value: "e.csv"},
	"vertices":              {with: "--edges e.csv", value: "v.csv"},
	"metapath":              {with: "--vertices v=v.csv --edges r=v:v:e.csv", value: "p=r,r", idle: "g.saga"},
	"skip-unknown":          {why: "an unknown end is refused without: tablecolumns_test.go of package dataset", idle: "g.saga"},
	"heading":               {with: "--edges e.csv", value: "no", idle: "g.saga"},
	"source":                {with: "--edges e.csv", value: "b"},
	"target":                {with: "--edges e.csv", value: "a"},
	"weight":                {with: "--edges e.csv", value: "x"},
	"edge-type":             {with: "--edges e.csv", value: "k"},
	"edge-time":             {with: "--edges e.csv", value: "x"},
	"vertex-time":           {with: "--edges e.csv --vertices v.csv", value: "size"},
	"edge-features":         {with: "--edges e.csv", value: "x"},
	"id":                    {with: "--edges e.csv --vertices v.csv", value: "other"},
	"label":                 {with: "--edges e.csv --vertices v.csv", value: "kind"},
	"targets":               {with: "--edges e.csv --vertices v.csv", value: "size"},
	"split":                 {with: "--edges e.csv --vertices v.csv", value: "part"},
	"features":              {with: "--edges e.csv --vertices v.csv", value: "size"},
	"unlabelled":            {with: "--edges e.csv --vertices v.csv --label kind", value: "p", idle: "--edges e.csv"},
	"missing":               {with: "--edges e.csv --vertices v.csv --features size", value: "mean", idle: "--edges e.csv --vertices v.csv"},
	"one-hot":               {with: "--edges e.csv --vertices v.csv", value: "part", idle: "--edges e.csv"},
	"standardize":           {with: "--edges e.csv --vertices v.csv --features size", idle: "--edges e.csv --vertices v.csv"},
	"like":                  {with: "--edges e.csv --vertices v.csv --features size", value: "g.saga"},
	"format":                {value: "npy"},
	"base":                  {value: "3", idle: "+--format npy"},
	"data shard hosts":      {with: "--dry-run big.saga", value: "3", idle: "+"},
	"data shard dry-run":    {},
	"data shard owners":     {value: "4", idle: "--dry-run big.saga"},
	"data shard json":       {with: "--dry-run --hosts 2 big.saga", idle: "+"},
	"data shard out":        {with: "+", value: "o/other"},
	"data shard chunks":     {value: "4"},
	"data shard type":       {why: "of graphs with several types: shardtypes.txtar"},
	"data shard layers":     {why: "of graphs with several types: shardtypes.txtar"},
	"self-loops":            {},
	"topo machine":          {with: "--machine p100x8", value: "h200x4"},
	"topo device":           {value: "cuda"},
	"topo measure":          {why: "times copies: topo.txtar"},
	"topo out":              {value: "o/m.json"},

	"bench machine":  {value: "h200"},
	"bench hidden":   {value: "64"},
	"bench layers":   {value: "3"},
	"bench markdown": {},
	"bench models":   {value: "commnet"},
	"bench copies":   {value: "2"},
	"bench device":   {with: "--models gcn --copies 1", value: "nosuch"},
	"bench graphs":   {value: "reddit_full"},
	"bench devices":  {value: "1,4"},
	"bench chunks":   {value: "16"},
	"bench prefetch": {value: "1"},
	"bench ours":     {},
}

// walked are arguments of embeddings by few short walks.
const walked = "--data g.saga --walks deepwalk --per-vertex 2 --length 5 --out o/e.csv"

// smallShape is what bench ablation plans and runs; ran are arguments with which it runs.
const (
	smallShape = "vertices=600,edges=6000,features=16,classes=4"
	ran        = "+--device cpu --mem 400KiB --warmup 0 --epochs 1"
)

// autoCase is what bench auto plans: models without edges are searched quickly.
const autoCase = "--shapes reddit_middle --machines h200 --layers 2 --hidden 8 --budgets 1 --most 2 --step 1"

// Rows of benchmarks. Those that measure show at least what was asked of them in a heading.
func init() {
	const tiny, scheduled = "--models gcn --epochs 1 --shape tiny", "+--device cpu --scale 20000 --budgets 1"
	const blocks, patterns, density, sorted = "--data karate --samplers neighbours:2 --times 1", "--data karate --tables patterns --edges 1 --support 3", "--tables density --degrees 2 --vertices 30", "--tables sort --keys 2000"
	for command, rows := range map[string]map[string]flagRow{
		"schedules": {"hidden": {with: "--models gcn --layers 2 --chunks 2", value: "64"}, "chunks": {value: "3"}, "prefetch": {value: "2"}, "device": {with: "+--scale 20000", value: "cpu"}, "budgets": {with: scheduled, value: "0.5", idle: "+"}, "scale": {with: scheduled, value: "2000", idle: "+"},
			"warmup": {why: "changes which epochs are timed", idle: "+ == 2"}, "epochs": {why: "changes how many epochs are timed", idle: "+ == 2"}},
		"streaming": {"warmup": {why: "changes which epochs are timed", idle: "+ == 2"}, "epochs": {why: "changes how many epochs are timed", idle: "+ == 2"}, "scale": {with: "+--device cpu --scale 2000", value: "1000", idle: "+"}},
		"ablation": {"hidden": {with: "+--layers 2", value: "64"}, "shape": {value: "vertices=300,edges=3000,features=16,classes=4", idle: ran + " --data g.saga"}, "mem": {value: "1MiB"}, "part": {value: "0.3", idle: "+--mem 1MiB"}, "work": {value: "500", idle: ran},
			"svg": {value: "o/a.svg", idle: ran}, "device": {value: "nosuch"}, "data": {with: ran, value: "karate", idle: "+"}, "chunks": {with: ran, value: "3", idle: "+"}, "prefetch": {with: ran, value: "2", idle: "+"},
			"without": {with: ran, value: "invariant", idle: "+"}, "warmup": {why: "changes which epochs are timed", idle: "+ == 2"}, "epochs": {why: "changes how many epochs are timed", idle: "+ == 2"}},
		"epoch": {"data": {with: "+", value: "karate"}, "shape": {with: tiny, value: "cora", idle: "+"}, "uniform": {with: tiny, idle: "+"}, "device": {value: "cpu:2"}, "mem": {value: "40KiB"}, "machine": {value: "h200"},
			"heads": {with: "--data g.saga --models gat --epochs 1", value: "3", idle: "+"}, "norm": {value: "layer", idle: "+--layers 1"}, "dropout": {value: "0.5"}, "hidden": {value: "64", idle: "+--layers 1"}, "epochs": {value: "2"}, "without": {value: "none"}, "storage": {value: "bf16"},
			"tf32": {why: "of GPUs", idle: "+"}, "sample": {with: "--data karate --models gcn --epochs 1", value: "3,2"}, "batch": {with: "--data karate --models gcn --epochs 1 --sample 3,2", value: "3", idle: "+"}},
		"sample": {"data": {with: "+", value: "g.saga"}, "samplers": {value: "neighbours:2"}, "batch": {with: blocks, value: "7", idle: "+"}, "length": {value: "4", idle: blocks}, "times": {why: "changes how many runs are timed"}, "device": {value: "nosuch"},
			"mem": {why: "of GPUs", idle: "+ == 1GiB"}, "shapes": {why: "of GPUs", idle: "+ == ppi"}, "blocks": {why: "of GPUs", idle: "+"}, "weights": {why: "of GPUs", idle: "+"}},
		"mine": {"tables": {value: "list"}, "data": {with: "+", value: "g.saga", idle: density}, "support": {with: patterns, value: "5", idle: "+"}, "edges": {with: patterns, value: "2", idle: "+"}, "k": {value: "4", idle: patterns},
			"degrees": {with: density, value: "3", idle: "+"}, "vertices": {with: density, value: "40", idle: "+"}, "keys": {with: sorted, value: "3000", idle: "+"}, "scratch": {why: "says where files without names lie", idle: "+ == o"}, "device": {with: "--data karate --tables stored --edges 2", value: "nosuch", idle: "+"}, "threads": {value: "3", idle: "--tables list"}},
		"auto": {"hidden": {value: "64"}, "layers": {value: "3"}, "models": {value: "sgc"}, "shapes": {value: "enwiki"}, "machines": {value: "h100"}, "budgets": {value: "2"}, "most": {value: "3"}, "step": {with: "+--most 8", value: "3"}, "save": {with: "+--models=sgc", value: "all"}},
	} {
		for flag, row := range rows {
			flagRows["bench "+command+" "+flag] = row
		}
	}
	// These need a GPU, and are refused without one whatever is given.
	for command, flags := range map[string][]string{"kernels": {"models", "data", "shape", "uniform", "device", "mem", "machine", "hidden", "layers", "heads", "norm", "dropout", "epochs", "without", "storage", "tf32", "markdown", "json", "most", "undirected", "sample", "batch"},
		"embed": {"shapes", "cols", "children", "width", "device", "mem", "batch", "times", "bf16", "kernels", "markdown", "json"}} {
		values := map[string]string{"uniform": "", "undirected": "", "tf32": "", "markdown": "", "json": "", "bf16": "", "kernels": "", "shape": "tiny", "models": "gat", "data": "w.saga", "device": "cpu", "mem": "1GiB", "machine": "cpu", "norm": "layer", "dropout": "0.5", "without": "none", "storage": "bf16", "shapes": "100x300"}
		for _, flag := range flags {
			value, ok := values[flag]
			if !ok {
				value = "3"
			}
			idle := "+"
			if value != "" {
				idle += " == " + value
			}
			flagRows["bench "+command+" "+flag] = flagRow{why: "of GPUs: gputest.sh of bench/cuda", idle: idle}
		}
	}
}

// ofWeights are arguments of saga predict with weights.
const ofWeights = "--weights w.pt --data g.saga --model gcn --out o/p.csv --write logits"

// Options of models are read beside --weights alone.
func init() {
	for name, value := range map[string]string{"model": "sage", "hidden": "7", "layers": "3", "steps": "3", "heads": "3", "dropout": "0.5", "normalize": "none", "activation": "tanh",
		"norm": "layer", "residual": "", "jk": "cat", "project": "", "alpha": "0.5", "theta": "2", "bases": "2", "blocks": "2", "edge-data": "off", "readout": "sum", "bias": "off", "init": "glorot", "self-loops": "off",
		"undirected": "", "simple": "", "task": "graph", "features": "degree", "row-normalize": "on"} {
		flagRows["predict "+name] = flagRow{with: ofWeights, value: value, idle: "+"}
	}
	flagRows["predict virtual-node"] = flagRow{with: "--weights virtual.pt --data graphs.saga --model gin --out o/p.csv --write logits", idle: ofWeights}
	flagRows["predict target"] = flagRow{why: "of graphs with several types: TestTrainTypes"}
	flagRows["predict loss"] = flagRow{with: ofWeights, value: "mse", idle: "+"}
}

# The commands of this project. All of them need Go and nothing else; what another
# tool would add is skipped with a message when the tool is not there.

# Where packages are tested again under the race detector: those of them whose files have go statements, parallel tests or locks.
# Every name must be an existing folder followed by /... . The longest begin first: net mostly waits.
RACE ?= ./net/... ./mine/... ./device/... ./dataflow/exec/... ./kernel/... ./internal/progress/... ./internal/runfolder/...
BENCH ?= .

# Packages whose tests take longest: they begin first, so that none of them runs alone at the end.
LONGEST ?= ./cmd/saga ./layers ./saga ./mine ./dataflow ./kernel/cuda ./dataset

SHELL = bash
.SHELLFLAGS = -o pipefail -c

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = mvdan.cc/gofumpt@v0.12.0

CUDA_HOME   ?= /usr/local/cuda
# A header of this project named cuda.h goes before the one of the toolkit.
CUDA_CFLAGS  ?= -I$(CURDIR)/device/include -I$(CUDA_HOME)/include
CUDA_LDFLAGS ?= -L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/lib64/stubs

DEADCODE    = golang.org/x/tools/cmd/deadcode@v0.51.0

# What was skipped, and why: make test prints it at its end.
SKIPPED = bin/skipped.txt
skip    = echo "$(1)" | tee -a $(SKIPPED)

.PHONY: help test tests checks beside soak race bench cuda cuda-needs cuda-check gpu-test mpi cuda-mpi staticcheck deadcode gen fmt lint

# What there is to make: what make says without a target.
help:
	@echo "make test         all tests and checks: six minutes once built, one if nothing has changed, at first a quarter of an hour"
	@echo "make lint         static checks alone"
	@echo "make cuda         bin/saga for NVIDIA GPUs: CUDA toolkit (CUDA_HOME=$(CUDA_HOME)) and a C compiler"
	@echo "make mpi          bin/saga for several ranks over MPI; make cuda-mpi with GPUs, too"
	@echo "make cuda-check   what of the GPU build can be checked without a GPU"
	@echo "make gpu-test     tests that need a GPU"
	@echo "make race         tests under the race detector"
	@echo "make soak         new random cases, up to SOAK_TIME=$(SOAK_TIME)"
	@echo "make bench        Go benchmarks; BENCH=REGEXP chooses"
	@echo "make fmt          format all files;  make gen: write assembly anew"
	@echo "saga itself needs no make: go install ./cmd/saga"

# Where tests put files if there is room: memory. Those that write many wait for a disk a third of their time. The name is the
# same in all runs of a checkout: results of tests are cached for one value of TMPDIR.
IN_MEMORY ?= /dev/shm
memory     = $(IN_MEMORY)/sagann-$(firstword $(shell echo "$(CURDIR)" | cksum))

# Everything. The checks, most of them on one core, and then the race detector fill what the tests leave free.
# Tests make much that is soon garbage: GOGC has it collected less often, as long as there is less than GOMEMLIMIT of it.
test:
	@mkdir -p bin && : >$(SKIPPED)
	go vet ./...
	@free=$$(df -Pk "$(IN_MEMORY)" 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	if [ -z "$$TMPDIR" ] && [ "$${free:-0}" -ge 4000000 ] && rm -rf "$(memory)" && mkdir -m 700 "$(memory)"; then \
		export TMPDIR="$(memory)"; trap 'rm -rf "$(memory)"' EXIT; fi; \
	export GOGC="$${GOGC:-400}" GOMEMLIMIT="$${GOMEMLIMIT:-3GiB}"; $(MAKE) --no-print-directory -j2 tests beside
	@echo "skipped:"; sort -u $(SKIPPED) | sed 's/^/  /'

# go vet has looked at all packages before their tests: hence -vet=off. testlist prints
# what fails, and at the end what was skipped.
tests:
	go test -json -timeout 20m -vet=off $(LONGEST) ./... | go run ./internal/testlist -skipped $(SKIPPED)

# What looks at the code. The lint test reads the whole module, which the test cache
# cannot know: hence -count=1.
checks:
	go test -vet=off -count=1 ./internal/lint
	@$(MAKE) --no-print-directory cuda-check
	@$(MAKE) --no-print-directory staticcheck
	@$(MAKE) --no-print-directory deadcode

# What runs beside the tests: the race detector last, some of whose tests wait more than they compute.
beside: checks
	@$(MAKE) --no-print-directory race

# Static checks. They need a tool that go run fetches, or has.
staticcheck:
	@mkdir -p bin; if go run $(STATICCHECK) -version >/dev/null 2>&1; then \
		echo "staticcheck ./..."; GOGC=400 go run $(STATICCHECK) ./...; \
	else $(call skip,staticcheck: $(STATICCHECK) cannot be fetched); fi

# Functions that nothing calls, tests included, but for those that internal/lint/deadcode.txt
# names: public API, and what builds with tags call.
deadcode:
	@mkdir -p bin; if GOBIN=$(CURDIR)/bin go install $(DEADCODE) 2>/dev/null; then \
		echo "deadcode -test ./..."; GOGC=400 bin/deadcode -test ./... >bin/deadcode.txt || exit 1; \
		if sed 's/:[0-9]*:[0-9]*:/:/' bin/deadcode.txt | grep -vxFf internal/lint/deadcode.txt; then \
			echo "deadcode: nothing calls these functions: remove them, or name them in internal/lint/deadcode.txt"; exit 1; fi; \
	else $(call skip,deadcode: $(DEADCODE) cannot be fetched); fi

# Random cases with fresh seeds, beyond those that make test draws again every time. The
# number that all seeds come from is printed; make soak SOAK_SEED=N draws the same cases.
# SOAK_TIME bounds each of the two parts; GOGC=800 halves the processor time of small programs. A failure prints the case as a row for the
# table of dataflow/kept_test.go, which make test runs.
# Beside these it runs what takes too long for make test:
#   layers TestPlanetoid/citeseer: the recipe that TestPlanetoid/cora trains in make test, on features two and a half times as wide;
#   layers TestOverlap, chunk TestBuildLinear, dataset TestGeneratorSpeed, and the limits of saga TestPlanFromStatistics and
#   TestSlicesOfDeepFunctions: they take times, which a busy machine stretches;
#   saga TestAuto: the largest graph; TestEveryFault: each call fails at once and later, in make test one of the two in turn;
#   TestGroups, TestSavesAreMixed, TestSlicesAreChosen, TestPackingIsChosen: the search is as free as users have it;
#   mine/cuda TestFaults: every call of a device, of which make test fails three of each kind; TestEmulated: a graph of 6,000 edges, too;
#   cmd/saga TestMPIDeath three times, TestTwoHosts: ranks in two network namespaces, which only root can make; TestPeersBusy: ranks that
#   plan for a minute; TestSignals: 200 signals; TestHostileStores: 1,000 stores and shards, and again with the Go loops in place of
#   assembly, which check every index; TestLargerThanMemory: a store of 3.2 GB in a control group of 2 GiB; TestTwoGPURanks: the time of an epoch;
#   TestSoak: an hour (SOAK_FOR=10m another time) of training, resumes, predictions and errors over ranks, in which nothing may grow;
#   cmd/saga TestScripts/bench and TestScripts/bench_ring: benchmarks that plan G-GCN, of which make test has GCN's;
#   sample: draws are compared with exact probabilities a million times, in make test 20,000 times;
#   bench/tables TestAutoAgainstAll: four graphs, of which make test has one; TestRingIsClosedForm: eight numbers of devices
#   for each model and graph, of which make test has two.
SOAK_PROGRAMS ?= 20000
SOAK_CHECKS   ?= 2000
SOAK_TIME     ?= 2h
ifndef SOAK_SEED
SOAK_SEED := $(shell date +%s)
endif
soak: export SAGA_SEED = $(SOAK_SEED)
soak:
	@echo "make soak SOAK_SEED=$(SOAK_SEED): $(SOAK_PROGRAMS) programs, $(SOAK_CHECKS) cases of every other property"
	GOGC=800 RAPID_CHECKS=$$(( ($(SOAK_PROGRAMS) + 19) / 20 )) go test -count=1 -v -timeout $(SOAK_TIME) -run 'TestRandomPrograms|TestRandomRanks|TestDyadic' ./dataflow
	RAPID_CHECKS=$(SOAK_CHECKS) go test -count=1 -timeout $(SOAK_TIME) ./chunk ./ring ./kernel/... ./dataset/... ./dataflow/plan/...
	go test -count=1 -timeout $(SOAK_TIME) -run 'TestPlanetoid|TestOverlap' ./layers
	go test -count=1 -timeout $(SOAK_TIME) -run 'TestPlanFromStatistics|TestSlices|TestAuto|TestEveryFault|TestGroups|TestSavesAreMixed|TestPackingIsChosen|TestNamedBudgets' ./saga
	go test -count=1 -timeout $(SOAK_TIME) -run 'TestMPIDeath|TestTwoHosts|TestPeersBusy|TestLargerThanMemory|TestTwoGPURanks|TestScripts/bench|TestSignals|TestHostileStores|TestSoak' ./cmd/saga
	go test -count=1 -timeout $(SOAK_TIME) -tags noasm -run TestHostileStores ./cmd/saga
	go test -count=1 -timeout $(SOAK_TIME) ./mine/... ./sample ./bench/tables

# The race detector needs cgo, so a C compiler. -short leaves out what is only long.
race:
	@mkdir -p bin; cc="$$(go env CC)"; pkgs="$$(go list -f '{{.ImportPath}} {{.Dir}}' $(RACE) 2>/dev/null | while read -r pkg dir; do \
		if grep -qE '^[[:space:]]*go [a-z]|"sync|errgroup|t[.]Parallel' "$$dir"/*.go; then echo "$$pkg"; fi; done)"; \
	if [ "$$(go env CGO_ENABLED)" != 1 ]; then \
		$(call skip,race detector: cgo is off (go env CGO_ENABLED)); \
	elif ! command -v "$${cc%% *}" >/dev/null; then \
		$(call skip,race detector: no C compiler ($$cc) on PATH); \
	elif [ -z "$$pkgs" ]; then \
		$(call skip,race detector: no packages in $(RACE)); \
	else \
		echo "go test -race -short $(RACE)"; go test -race -vet=off -short -timeout 20m $$pkgs; \
	fi

# Benchmarks; each checks its result before it takes the time. BENCH chooses by name.
bench:
	go test -count=1 -run '^$$' -bench '$(BENCH)' -timeout 2h ./bench/...

# What of the GPU build can be checked without a GPU; skipped, with the reason, where
# CUDA's headers and libraries are missing. CUDA_FETCH=1 installs them below .venv.
cuda-check:
	@mkdir -p bin; bash bench/cuda/compile.sh | tee bin/cuda-check.txt; status=$${PIPESTATUS[0]}; grep SKIPPED bin/cuda-check.txt >>$(SKIPPED); exit $$status

# What the build for NVIDIA GPUs needs and this machine lacks.
cuda-needs:
	@missing=; cc="$$(go env CC)"; \
	command -v "$${cc%% *}" >/dev/null || missing="$$missing\n  a C compiler: $$cc is not on PATH"; \
	[ -e "$(CUDA_HOME)/include/cuda.h" ] || missing="$$missing\n  the CUDA toolkit: there is no $(CUDA_HOME)/include/cuda.h; with it elsewhere, make cuda CUDA_HOME=PATH"; \
	if [ -n "$$missing" ]; then printf "make cuda: this machine lacks$$missing\nwithout a GPU, go install ./cmd/saga builds saga for the CPU\n" >&2; exit 1; fi

# The build for NVIDIA GPUs, and bin/saga of it.
cuda: $(if $(filter file,$(origin CUDA_CFLAGS)),cuda-needs)
	@echo "CUDA headers and libraries from CUDA_HOME=$(CUDA_HOME): cuda.h, libcuda, libnvrtc and libcublas"
	CGO_ENABLED=1 CGO_CFLAGS='$(CUDA_CFLAGS)' CGO_LDFLAGS='$(CUDA_LDFLAGS)' go build -tags cuda ./...
	CGO_ENABLED=1 CGO_CFLAGS='$(CUDA_CFLAGS)' CGO_LDFLAGS='$(CUDA_LDFLAGS)' go build -tags cuda -o bin/ ./cmd/saga ./bench

# Tests on a GPU, or on those that SAGANN_DEVICE names, in less than ten minutes; at its end it lists what it did not run.
gpu-test:
	CGO_ENABLED=1 CGO_CFLAGS='$(CUDA_CFLAGS)' CGO_LDFLAGS='$(CUDA_LDFLAGS)' bash bench/cuda/gputest.sh

# The build for several ranks over MPI, and bin/saga of it: with the flags of the mpicc on PATH, or of MPICC.
mpi:
	set -e; flags="$$(bash net/mpi/flags.sh)"; eval "$$flags"; go vet -tags mpi ./net/... ./cmd/saga; go build -tags mpi -o bin/saga ./cmd/saga

# The build for GPUs on several ranks over MPI, and bin/saga of it.
cuda-mpi:
	set -e; flags="$$(bash net/mpi/flags.sh)"; eval "$$flags"; \
	export CGO_CFLAGS='$(CUDA_CFLAGS)'" $$CGO_CFLAGS" CGO_LDFLAGS='$(CUDA_LDFLAGS)'" $$CGO_LDFLAGS"; go build -tags cuda,mpi -o bin/saga ./cmd/saga

# Assembly of internal/simd, written by a generator in a module of its own.
gen:
	go generate ./internal/simd/...

fmt:
	gofmt -l -w .
	@if go run $(GOFUMPT) -version >/dev/null 2>&1; then \
		echo "gofumpt -l -w ."; go run $(GOFUMPT) -l -w .; \
	else echo "gofumpt: SKIPPED, $(GOFUMPT) cannot be fetched"; fi

# Checks alone, and one more that only looks.
lint: staticcheck deadcode
	go vet ./...
	go test -count=1 ./internal/lint
	@if go run $(GOFUMPT) -version >/dev/null 2>&1; then \
		echo "gofumpt -l ."; go run $(GOFUMPT) -l .; \
	else echo "gofumpt: SKIPPED, $(GOFUMPT) cannot be fetched"; fi

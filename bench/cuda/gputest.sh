#!/usr/bin/env bash
# gputest.sh: what make gpu-test runs, most of it at the same time, on the GPU or GPUs of SAGANN_DEVICE (cuda). With GPU_TESTS=DIR
# the tests are programs that go test -c has made, DIR/device.test and so on, for a machine without Go.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export SAGANN_DEVICE=${SAGANN_DEVICE:-cuda} CUDA_MODULE_LOADING=LAZY
limit=${GPU_TEST_LIMIT:-9m}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# A package, how many devices its tests take at most (1: the first of SAGANN_DEVICE), and the tests. Most of their time NVRTC compiles, one
# text at a time in a process: long tests are several rows.
rows() {
	cat <<-'END'
	device         9 .
	mine/cuda      9 OnGPU
	sample         1 TestGPULarge|TestGPUSteps|TestGPUFaults|TestTwoHop
	saga           1 TestSampledBits|TestSampledAgree|TestSampledRowsBits|TestSampledInPlace|TestSampledVisits|TestSampledFar|TestSampledClusters|TestSparseIsDense|TestRowsGolden|TestNotFinite|TestSessionOrder|TestOpens
	saga           1 TestGPURandom
	saga           9 TestAccumulate|TestSampledNorms|TestGPUTyped
	layers         1 TestGolden$/^[a-f]
	layers         1 TestGolden$/^g[a-c]
	layers         1 TestGolden$/^g[d-z]
	layers         1 TestGolden$/^[h-z]
	layers         1 TestExtremes|TestPyG$
	layers         1 TestPlain|TestGathers$|TestUnknownLabels
	layers         9 TestSeveral
	bench/cuda     1 TestAgree/^[a-e]
	bench/cuda     1 TestAgree/^(f|ga|gc)
	bench/cuda     1 TestAgree/^g[d-z]
	bench/cuda     1 TestAgree/^[h-o]
	bench/cuda     1 TestAgree/^[p-z]
	bench/cuda     1 TestFewEdges/^F=(8|128)$
	bench/cuda     1 TestFewEdges/^F=(32|64|100)$
	bench/cuda     1 TestHubs|TestMaxima|TestLongReductions|TestTiles|TestRelations
	bench/cuda     1 TestRowsAgree|TestRowOps|TestPredict|TestChip|TestSparseAgree
	cmd/saga       1 TestKill$|TestInterrupt|TestLateTrace
	END
}

# errors are the lines of a log that say what failed: names, and what a failed test wrote.
errors() {
	awk 'FNR == NR { if (/--- FAIL/) failed[$3] = 1; next }
		/^=== (RUN|CONT)/ { name = $3 }
		/--- FAIL|panic:|test timed out/ || (/_test.go:/ && failed[name])' "$1" "$1"
}

one() { # name package devices tests
	local device=$SAGANN_DEVICE run begun=$SECONDS state=ok
	[ "$3" = 1 ] && device=${device%%,*}
	if [ -n "${GPU_TESTS:-}" ]; then
		run=("$(cd "$GPU_TESTS" && pwd)/${2//\//-}.test" -test.count=1 -test.timeout "$limit" -test.run "$4" -test.v)
	else
		run=(go test -tags cuda -count=1 -timeout "$limit" -run "$4" -v "./$2")
	fi
	(
		[ -n "${GPU_TESTS:-}" ] && cd "$2"
		SAGANN_DEVICE=$device "${run[@]}" </dev/null
	) >"$logs/$1" 2>&1 || state=FAILED
	echo "$state $2 $4 on $device: $(grep -c '^--- PASS' "$logs/$1") tests passed, $(grep -c '^--- FAIL' "$logs/$1") failed, $(grep -c '^--- SKIP' "$logs/$1") skipped, $((SECONDS - begun)) s"
	if [ $state != ok ]; then
		errors "$logs/$1" | cut -c1-400 | head -40
		touch "$logs/failed"
	fi
}

begun=$SECONDS
one 0 mine 9 "TestUnseen|TestGPU" # alone: it takes nine tenths of what is free
n=0
while read -r package devices tests; do
	n=$((n + 1))
	one "$n" "$package" "$devices" "$tests" &
done < <(rows)
wait
cat <<'END'
not run here, and left to soak (go test -tags cuda with SAGANN_DEVICE, or bench/cuda/check.sh):
  saga TestEveryFault: each call of a device fails once
  layers TestGoldenSampled, TestTasksGolden, TestNumbersGolden, TestBatchNormStreams, TestLinks: golden values of all models, sampled and of all tasks
  sample: a million draws compared with exact probabilities
  bench/cuda TestStorage, TestTasksAgree, TestEqualDigests, TestSlices, TestLongGathers: every model in many memories
  cmd/saga TestTwoGPURanks, TestTwoGPURanksShards, TestKillSampled: processes that share GPUs
END
echo "$((SECONDS - begun)) s in all"
[ ! -e "$logs/failed" ]

#!/usr/bin/env bash
# sanitize.sh SAGA [MODEL ...]: four training steps of every model on a small graph with
# hubs under compute-sanitizer's memcheck and racecheck, all side by side. SAGA is the
# built command. A tool that finds something, or does not finish in ten
# minutes, fails. SANITIZE holds further arguments, such as "--storage bf16 --hidden 32".
set -uo pipefail
saga=$1
shift
models=("$@")
[ ${#models[@]} -gt 0 ] || models=(commnet edgemlp gat gcn ggcn ggnn gin mpgcn resgated sage)
logs=$(mktemp -d)
for tool in memcheck racecheck; do
	for m in "${models[@]}"; do
		(
			timeout "${LIMIT:-600}" compute-sanitizer --tool $tool --error-exitcode 9 "$saga" bench epoch --device cuda --data synthetic:vertices=600,edges=40000,features=20,classes=5,skew=1 \
				--hidden 8 --heads 2 --epochs 1 --models "$m" ${SANITIZE:-} >"$logs/$tool-$m" 2>&1
			echo "$tool $m: exit $?, $(grep -c 'epoch' "$logs/$tool-$m") epoch lines, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$tool-$m" | tail -1)" >"$logs/$tool-$m.end"
		) &
	done
done
wait
cat "$logs"/*.end
[ -z "$(grep -L "exit 0" "$logs"/*.end)" ]

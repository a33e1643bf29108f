#!/usr/bin/env bash
# Trains on one graph through every door and compares the logits, which must be the same
# to the bit:
#
#     bench/formats/check.sh SAGA PYTHON FOLDER...
#
# FOLDER is a graph as an .npy folder. PYTHON has what make.py needs. MODEL (gcn) and
# EPOCHS (20) may be set.
set -euo pipefail
saga=$1 python=$2
shift 2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # NAME DATA: trains and writes logits
	"$saga" train --data "$2" --model "${MODEL:-gcn}" --epochs "${EPOCHS:-20}" "${split[@]}" --row-normalize off --self-loops on --out "$work/run-$1" >"$work/log" 2>&1 || { tail -3 "$work/log"; return 1; }
	"$saga" predict --checkpoint "$work/run-$1" --write logits --out "$work/$1.npy" >/dev/null 2>&1
	rm -rf "$work/run-$1"
}

bad=0
for folder; do
	name=$(basename "$folder")
	[ -e "$folder/labels.npy" ] || { echo "$name has no labels: left out"; continue; }
	split=()
	[ -e "$folder/train.npy" ] || split=(--split 0.6,0.2) # else its own
	rm -rf "$work/made"
	"$python" "$here/make.py" "$work/made" "$folder"
	run first "$folder"
	made=$work/made
	for door in pyg.npz orders.npz half.npz gnnbench.npz pickled.npz pickled_csc.npz pickled_coo.npz data.pt dict.pt pair.pt processed.pt strides.pt half.pt bfloat16.pt ogb papers numbers names; do
		what=$made/$door
		case $door in
		numbers | names) what="--edges $made/${door}_edges.csv" ;;
		*) [ -e "$what" ] || continue ;;
		esac
		if [ "$door" = numbers ] || [ "$door" = names ]; then
			vertices=$(ls "$made/${door}_vertices".*)
			what="$what --vertices $vertices"
			head -1 "$vertices" | grep -q f0 && what="$what --features f*"
			head -1 "$vertices" | grep -q l0 && what="$what --label l*"
		fi
		rm -f "$work/g.saga"
		set -f
		"$saga" data convert $what --out "$work/g.saga" >/dev/null 2>"$work/log" || { tail -3 "$work/log"; bad=1; set +f; continue; }
		set +f
		run "$door" "$work/g.saga" || { bad=1; continue; }
		if cmp -s "$work/first.npy" "$work/$door.npy"; then
			echo "$name $door: the same"
		else
			echo "$name $door: OTHER LOGITS"
			bad=1
		fi
		rm -f "$work/$door.npy"
	done
done
exit $bad

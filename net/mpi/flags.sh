#!/usr/bin/env bash
# Prints what cgo needs to compile and to link with the MPI whose mpicc is on PATH (or $MPICC), as assignments for a shell.
set -euo pipefail
cc="${MPICC:-mpicc}"
command -v "$cc" >/dev/null || { echo "$cc is not on PATH: install Open MPI (Debian: libopenmpi-dev openmpi-bin) or MPICH" >&2; exit 1; }
compile=() link=()
for word in $("$cc" -show | cut -d' ' -f2-); do
	case "$word" in
	-I* | -D* | -pthread) compile+=("$word") ;;
	-L* | -l* | -Wl,*) link+=("$word") ;;
	esac
done
echo "export CGO_ENABLED=1 CGO_CFLAGS='${compile[*]}' CGO_LDFLAGS='${link[*]}' CGO_LDFLAGS_ALLOW='-Wl,.*'"

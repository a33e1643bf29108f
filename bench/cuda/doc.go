// Package cuda has tests that compare a GPU with the CPU, on models and on single kernels; they are skipped if there is no
// GPU. Beside them are the scripts of GPU machines: gputest.sh (make gpu-test), check.sh, sanitize.sh, compile.sh (what can
// be checked without a GPU) and peer.py (the same epochs in PyTorch Geometric).
package cuda

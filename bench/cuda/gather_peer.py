"""gather_peer.py DIR F...: times cuSPARSE's products of the CSR matrix in DIR (files
ptr and other of 32-bit words, all values 1) with row-major matrices of F columns, each
algorithm for CSR after its preprocessing. Prints "F algorithm ms", medians of 20."""
import ctypes as c
import sys

import numpy as np
import torch

where, widths = sys.argv[1], [int(f) for f in sys.argv[2:]]
torch.zeros(1).cuda()
torch.sparse.mm(torch.eye(2).to_sparse_csr().cuda(), torch.ones(2, 2).cuda())  # loads the library
path = next(line.split()[-1] for line in open("/proc/self/maps") if "libcusparse.so" in line)
lib = c.CDLL(path)


def call(name, *args):
    r = getattr(lib, name)(*args)
    if r:
        raise RuntimeError(f"{name}: status {r}")


def pointer(t):
    return c.c_void_p(t.data_ptr())


ptr = torch.from_numpy(np.fromfile(f"{where}/ptr", dtype=np.int32)).cuda()
other = torch.from_numpy(np.fromfile(f"{where}/other", dtype=np.int32)).cuda()
v, e = len(ptr) - 1, len(other)
ones = torch.ones(e, device="cuda")
handle, matrix = c.c_void_p(), c.c_void_p()
call("cusparseCreate", c.byref(handle))
i64, index32, base0, float32, by_row = c.c_int64, 2, 0, 0, 2
call("cusparseCreateCsr", c.byref(matrix), i64(v), i64(v), i64(e), pointer(ptr), pointer(other), pointer(ones),
     index32, index32, base0, float32)
alpha, beta = c.c_float(1), c.c_float(0)
for f in widths:
    x, y = torch.randn(v, f, device="cuda"), torch.zeros(v, f, device="cuda")
    b, o = c.c_void_p(), c.c_void_p()
    call("cusparseCreateDnMat", c.byref(b), i64(v), i64(f), i64(f), pointer(x), float32, by_row)
    call("cusparseCreateDnMat", c.byref(o), i64(v), i64(f), i64(f), pointer(y), float32, by_row)
    for name, alg in (("ALG1", 4), ("ALG2", 6), ("ALG3", 12)):
        args = (handle, 0, 0, c.byref(alpha), matrix, b, c.byref(beta), o, float32, alg)
        try:
            size = c.c_size_t()
            call("cusparseSpMM_bufferSize", *args, c.byref(size))
            work = torch.empty(max(1, size.value), dtype=torch.uint8, device="cuda")
            call("cusparseSpMM_preprocess", *args, pointer(work))
            times = []
            for i in range(23):
                t0, t1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                t0.record()
                call("cusparseSpMM", *args, pointer(work))
                t1.record()
                torch.cuda.synchronize()
                if i >= 3:
                    times.append(t0.elapsed_time(t1))
            print(f, name, f"{sorted(times)[10]:.4f}", flush=True)
        except RuntimeError as err:
            print(f"F={f} {name}: {err}", file=sys.stderr)

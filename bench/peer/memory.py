"""Peak tensor bytes of a piece of work, counted at torch's CPU allocator."""

import torch


def peak_bytes(work):
    """Runs work() and returns (peak, end): live tensor bytes above the level at its start.

    Every allocation and release of a CPU tensor storage reaches the profiler as a signed
    byte count, temporaries inside operators and tensors saved for backward included; the
    largest running sum is the peak. Bytes that a library allocates past torch's allocator
    (workspaces of the BLAS) and the allocator's own rounding are not in it. A negative end
    means that work released tensors that were live before it.
    """
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as p:
        work()
    events = p.profiler.kineto_results.events()
    deltas = [(e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]"]
    deltas.sort(key=lambda d: d[0])
    live = peak = 0
    for _, n in deltas:
        live += n
        peak = max(peak, live)
    return peak, live


def bytes_of(tensors):
    """Bytes of the distinct storages of tensors."""
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(storages.values())

package cuda

import _ "embed"

// streamText is the kernels of a step whose transits are grouped by the interval that their row lies in. Intervals are
// of vertices in order: interval p begins at vertex bound[p], and PARTS, one more than there are, is that of transits that are none. A
// block counts a range of transits, one sum over (interval, block) says where each block puts those of each interval, and then it puts them there.
// The order of a group is that of threads; it is of places of transits, and a draw is written where its place says.
//
//go:embed stream.cu
var streamText string

// streamHead is the kernel of a step: its number, PER, SIZE and TURN.
const streamHead = `
extern "C" __global__ void __launch_bounds__(256) saga_stream_%d(const u32 *offsets, const u32 *room, u64 vertices, const u32 *list, u64 n, const u32 *from, const u32 *before,
		u32 *out, u64 step, u64 first, u64 key, u64 *wrong, u64 *sum) {
	G g = {offsets, room, 0, 0, 0, 0, vertices};
	stream_step<%d, %d, %d>(g, list, n, from, before, out, (u32)step, first, key, wrong, sum);
}
`

package cuda

import (
	_ "embed"
	"fmt"
)

// domainPiece is how many 32-bit words of the bits of a domain a block does at a time.
const domainPiece = 128

// domainsBlock is the threads of a block, domainsBlocks how many blocks there are for each processor: more than run at once, as pieces that a block takes
// in turn may be long.
const domainsBlock, domainsBlocks = 128, 64

// searchAlone and searchTogether are how many entries of rows a lane looks at before the lanes of its warp search together, and these before they ask each
// other. Tests have fewer.
var searchAlone, searchTogether = 64, 32

// searchWords is how many words of a piece a block searches for at a time. Long searches stand side by side, as vertices of many neighbours do, and
// a block that has them all is what the others wait for in the end.
const searchWords = 16

// searchMarks is how many marks a warp has for what two edges from a vertex lead to. Where more is reached, marks mean little, and what they seem to find is
// looked up. Tests have fewer.
var searchMarks = 8192

// domainsOf is the text of the kernels that find domains.
func domainsOf(induced bool) string {
	text := prelude + fmt.Sprintf("#define PIECE %d\n#define FEW %d\n#define ALONE %d\n#define TOGETHER %d\n#define MARKS %d\n",
		domainPiece, searchWords, searchAlone, searchTogether, searchMarks)
	if induced {
		text += "#define INDUCED\n"
	}
	return text + domainsText
}

// domainsText works on candidates and pieces. No kernel waits for another block. A warp votes only where all of its lanes are: the
// loops over pieces, and over words in a join, are the same for all of them.
//
//go:embed domains.cu
var domainsText string

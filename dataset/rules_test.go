package dataset

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rulesOf names the rules of rules.go, ids.go and text.go that each function which opens a text must reach, so that no reader decides
// by itself. What has none is named, too, with the reason: a new reader must be entered here.
var rulesOf = map[string][]string{
	// Lists and tables of edges.
	"scan":       {"isHeading", "checkHeading", "konect", "cutEdgeData", "wholeID", "isComment"},
	"openEdges":  {"countsLine", "onlyNumbers", "position", "isComment", "cutEdgeData", "checkID", "wholeID", "warnLinks", "sealEnds", "guessWeight", "orForeign"},
	"beginEdges": {"countsLine", "onlyNumbers", "position", "isComment", "cutEdgeData", "checkID", "wholeID", "warnLinks", "sealEnds", "guessWeight", "orForeign"},
	"loadMTX":    {"mtxHeader", "once"},
	"countsLine": {"checkVertexCount"},
	// Tables of vertices, and files with ids of vertices.
	"openVertices": {"onlyNumbers", "position", "findID", "wholeID", "isMissing"},
	"vertices":     {"onlyNumbers", "wholeID"}, // of addedTables
	"fileOf":       {"onlyNumbers", "wholeID"},
	"ReadPairs":    {"onlyNumbers", "wholeID"},
	"file":         {"onlyNumbers", "wholeID"}, // of pairEnds
	// Looks at a file that does not read it.
	"occursAgain": nil, "isRagged": nil, "isSquare": nil, "foreignOf": nil, "openUnknown": nil, "isPlainList": {"wholeID"},
	// Texts of numbers without ids: rows are numbered by their lines. Texts beside an edge list go through idsOfRows.
	"read": nil, "openFloats": nil, "textColumns": nil, "openSVMlight": nil, "loadSVMlight": nil, "readNames": nil, "openOGB": nil, "openOGBTexts": nil, "tuInts": nil,
	"ogbEdges": nil, "ogbLabels": nil, "ogbTypes": nil, "ogbHas": nil, "ogbLinks": nil, "ogbTriplets": nil, "readTU": nil, "tuEdges": nil, "tuGraphs": nil, "tuVertices": nil,
	"openTable": {"onlyNumbers", "isComment"}, "openText": nil,
}

// TestRulesOfReaders: whoever opens a text is a reader of rulesOf, and calls its rules, itself or by what it calls.
func TestRulesOfReaders(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string][]string{} // by name of a function: the names of what it calls
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.Ident:
					calls[f.Name.Name] = append(calls[f.Name.Name], x.Name)
				case *ast.SelectorExpr:
					calls[f.Name.Name] = append(calls[f.Name.Name], x.Sel.Name)
				}
				return true
			})
		}
	}
	seen := map[string]bool{}
	for name, callees := range calls {
		if !slices.Contains(callees, "openText") && !slices.Contains(callees, "openTable") {
			continue
		}
		rules, known := rulesOf[name]
		if !known {
			t.Errorf("%s opens a text and is not in rulesOf", name)
		}
		seen[name] = true
		reached := map[string]bool{}
		for open := []string{name}; len(open) > 0; {
			f := open[0]
			open = open[1:]
			for _, c := range calls[f] {
				if !reached[c] && calls[c] != nil {
					reached[c] = true
					open = append(open, c)
				}
			}
		}
		for _, rule := range rules {
			if !reached[rule] {
				t.Errorf("%s does not call the rule %s", name, rule)
			}
		}
	}
	if len(seen) < 12 {
		t.Errorf("%d readers of texts", len(seen))
	}
}

package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// foreign is a format that other software reads.
type foreign struct {
	name    string
	endings []string
	begins  []string // how a text of the format begins, in small letters
	has     []string // what its first lines have
	python  string   // an expression for its edges as a table of pandas; FILE is the path
	shell   string   // instead: a command that writes graph.txt
}

// networkx is the expression of pandas for a graph that networkx reads.
func networkx(read string) string { return "nx.to_pandas_edgelist(nx." + read + ")" }

// The names of lists of neighbours and of matrices among foreigns.
const adjacency, matrix = "an adjacency list", "a matrix with a column for each vertex"

// foreignNamed is the format of the name.
func foreignNamed(name string) *foreign {
	return &foreigns[slices.IndexFunc(foreigns, func(f foreign) bool { return f.name == name })]
}

// foreigns are such formats.
var foreigns = []foreign{
	{name: "GraphML", endings: []string{".graphml"}, has: []string{"<graphml"}, python: networkx("read_graphml(FILE)")},
	{name: "GEXF", endings: []string{".gexf"}, has: []string{"<gexf"}, python: networkx("read_gexf(FILE)")},
	{name: "GML", endings: []string{".gml"}, begins: []string{"graph [", "graph\n[", "graph\r\n[", "creator \""}, python: networkx("read_gml(FILE, label='id')")},
	{name: "Pajek", endings: []string{".net", ".paj", ".pajek"}, begins: []string{"*vertices", "*network"}, python: networkx("read_pajek(FILE)")},
	{name: "METIS", endings: []string{".graph", ".metis"}, python: networkx("parse_adjlist(f'{i} {l}' for i, l in enumerate(l for l in open(FILE) if l[0] != '%') if i)")},
	{name: adjacency, endings: []string{".adjlist"}, python: networkx("read_adjlist(FILE)")},
	{name: "node-link JSON", endings: []string{".json"}, begins: []string{"{"}, python: "(lambda d: pd.DataFrame(d.get('links', d.get('edges'))))(json.load(open(FILE)))"},
	{name: "DOT", endings: []string{".dot", ".gv"}, begins: []string{"digraph ", "strict graph", "strict digraph", "graph {"}, python: networkx("nx_pydot.read_dot(FILE)")},
	{name: "DIMACS", endings: []string{".col", ".gr", ".dimacs"}, begins: []string{"p edge", "p sp", "p col"}, has: []string{"\np edge", "\np sp", "\np col"}, shell: `grep '^[ae] ' FILE | cut -d ' ' -f 2- > graph.txt`},
	{name: matrix, python: `pd.read_csv(FILE, header=None, sep='[,; \t]+', engine='python').stack().loc[lambda x: x != 0].rename_axis(['source', 'target']).rename('weight').reset_index()`},
	{name: "Parquet", endings: []string{".parquet", ".pq"}, begins: []string{"par1"}, python: "pd.read_parquet(FILE)"},
}

// refuse is the error for a file of the format, with the commands that convert it.
func (f *foreign) refuse(path string) error {
	command := fmt.Sprintf("%s && saga data convert graph.txt --undirected --out graph.saga", strings.ReplaceAll(f.shell, "FILE", quotedPath(path)))
	if f.shell == "" {
		module := "pandas as pd, json"
		if strings.Contains(f.python, "nx.") {
			module = "networkx as nx"
		}
		file := "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(path) + "'"
		command = fmt.Sprintf(`python3 -c "import %s; %s.to_csv('graph.csv', index=False)" && saga data convert --edges graph.csv --out graph.saga`, module, strings.ReplaceAll(f.python, "FILE", file))
	}
	return fmt.Errorf("%s: %s is not read. With --undirected where edges have no direction, this converts it: %s", path, f.name, command)
}

// isSquare reports whether a text has as many rows of numbers as fields in its first row.
func isSquare(path string) bool {
	t, err := openText(path)
	if err != nil {
		return false
	}
	defer t.Close()
	rows, columns := 0, 0
	for ; rows <= columns; rows++ {
		line, err := t.nextRow()
		if err != nil {
			break
		}
		list := fields(line, nil)
		for _, f := range list {
			if _, err := parseFloat(f); err != nil {
				return false
			}
		}
		if rows == 0 {
			columns = len(list)
		}
	}
	return rows == columns
}

// foreignOf is the format of a text by its first bytes; nil if it is none of foreigns.
func foreignOf(path string) *foreign {
	t, err := openText(path)
	if err != nil {
		return nil
	}
	defer t.Close()
	head, _ := t.r.Peek(1 << 12)
	text := strings.ToLower(strings.TrimSpace(string(head)))
	for i := range foreigns {
		f := &foreigns[i]
		if slices.ContainsFunc(f.begins, func(b string) bool { return strings.HasPrefix(text, b) }) || slices.ContainsFunc(f.has, func(h string) bool { return strings.Contains(text, h) }) {
			return f
		}
	}
	return nil
}

// orForeign is the error for a file of another format, or err.
func orForeign(path string, err error) error {
	if f := foreignOf(path); f != nil {
		return f.refuse(path)
	}
	return err
}

// openUnknown finds out by its ending and its first bytes what a file is that has no known ending.
func openUnknown(path string, opt Options) (*Stream, error) {
	ending := strings.ToLower(filepath.Ext(plainName(path)))
	for i := range foreigns {
		if slices.Contains(foreigns[i].endings, ending) {
			return nil, foreigns[i].refuse(path)
		}
	}
	if f := foreignOf(path); f != nil {
		return nil, f.refuse(path)
	}
	t, err := openText(path)
	if err != nil {
		return nil, err
	}
	head, _ := t.r.Peek(16)
	t.Close()
	if strings.HasPrefix(strings.ToLower(string(head)), "%%matrixmarket") {
		return held(loadMTX(path))
	}
	if isPlainList(path) {
		s, err := openEdgeList(path, opt.Relabel)
		if err == nil {
			s.Data.Report.Changes = append(s.Data.Report.Changes, "the file is read as a list of edges, as its rows are two or three numbers")
		}
		return s, err
	}
	return nil, fmt.Errorf("%s: unknown ending; known are .saga, .npz, .pt, .mat, .mtx, %s, texts also with .gz or .bz2. A table with names of columns: saga data convert --edges %s --out graph.saga; for other formats docs/data.md, \"Anything else\", has lines of Python",
		path, strings.Join(edgeListEndings, ", "), quotedPath(path))
}

// isPlainList reports whether the first rows of a text have two or three numbers each, or the first four (KONECT), the first two of
// which are whole.
func isPlainList(path string) bool {
	t, err := openText(path)
	if err != nil {
		return false
	}
	defer t.Close()
	rows := 0
	for ; rows < 16; rows++ {
		line, err := t.nextRow()
		if err != nil {
			break
		}
		f := fields(line, nil)
		if len(f) < 2 || len(f) > 4 || len(f) == 4 && !strings.HasPrefix(t.comment, "% ") || !onlyNumbers(f) {
			return false
		}
		for _, end := range f[:2] {
			if _, _, ok := wholeID(end); !ok {
				return false
			}
		}
	}
	return rows > 0
}

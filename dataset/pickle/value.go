package pickle

import (
	"errors"
	"fmt"
	"strings"
)

// The values of a pickle are nil, bool, int (of 64 bits), float64, string (also of
// bytes), Tuple, *List, *Dict, Class, Persistent and *Record.
type (
	// Tuple is a Python tuple.
	Tuple []any

	// List is a Python list, or a set.
	List struct{ Items []any }

	// Pair is an entry of a dictionary.
	Pair struct{ Key, Value any }

	// Dict is a Python dictionary: its entries in order. A key that is set twice is
	// listed twice; the last entry is the valid one.
	Dict struct{ Pairs []Pair }

	// Class names a class or a function.
	Class struct{ Module, Name string }

	// Persistent is an object that is stored outside the pickle, by its id.
	Persistent struct{ ID any }

	// Record is an object: the class or function that was called, its arguments, and what was added
	// to the result.
	Record struct {
		Class Class
		Args  Tuple
		State any    // set by the instruction BUILD
		Items []any  // appended
		Pairs []Pair // set by key
	}
)

// String is the name with its module.
func (c Class) String() string { return c.Module + "." + c.Name }

// Get is the last value under the key, a string.
func (d *Dict) Get(key string) (value any, ok bool) { return lookUp(d.Pairs, key) }

func lookUp(pairs []Pair, key string) (any, bool) {
	for i := len(pairs) - 1; i >= 0; i-- {
		if k, ok := pairs[i].Key.(string); ok && k == key {
			return pairs[i].Value, true
		}
	}
	return nil, false
}

// AsDict is x as a dictionary, if it is a *Dict or a record of a kind of dictionary, such as
// OrderedDict.
func AsDict(x any) (*Dict, bool) {
	switch x := x.(type) {
	case *Dict:
		return x, true
	case *Record:
		if strings.HasSuffix(x.Class.Name, "Dict") || x.Class.Name == "dict" || x.Class.Name == "defaultdict" {
			return &Dict{Pairs: x.Pairs}, true
		}
	}
	return nil, false
}

// AsList is the items of a list, a tuple or a record of one.
func AsList(x any) ([]any, bool) {
	switch x := x.(type) {
	case *List:
		return x.Items, true
	case Tuple:
		return x, true
	case *Record:
		return x.Items, x.Class.Name == "list"
	}
	return nil, false
}

// Kind describes x in words, for errors.
func Kind(x any) string {
	switch x := x.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case Tuple:
		return "tuple"
	case *List:
		return "list"
	case *Dict:
		return "dictionary"
	case Class:
		return "class"
	case Persistent:
		return "reference to what lies elsewhere"
	case *Record:
		return fmt.Sprintf("%.80s", x.Class)
	}
	return "mark"
}

// Latin1 decodes bytes from the text in which Python 3 writes them in protocols 0 to 2.
func Latin1(text string) (string, error) {
	var out strings.Builder
	for _, r := range text {
		if r > 0xff {
			return "", fmt.Errorf("_codecs.encode: U+%04X is not in latin1", r)
		}
		out.WriteByte(byte(r))
	}
	return out.String(), nil
}

var errLatin1 = errors.New("_codecs.encode: want a string and \"latin1\"")

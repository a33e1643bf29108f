package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Fields is a JSON object whose fields keep their order.
type Fields []Field

// Field is a name, which is a string, and its value.
type Field [2]any

// Name is the name.
func (f Field) Name() string { return f[0].(string) }

// Value is the value.
func (f Field) Value() any { return f[1] }

// MarshalJSON writes the fields in order; a number that is not finite becomes null.
func (f Fields) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, x := range f {
		value := x.Value()
		if v, ok := value.(float64); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
			value = nil
		}
		b, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name(), err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(x.Name())
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), b...)
	}
	return append(text, '}'), nil
}

// PrintJSON writes f on a line of its own.
func PrintJSON(w io.Writer, f Fields) error {
	text, err := json.Marshal(f)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}

package words

import (
	"fmt"
	"reflect"
	"strings"
)

// Text is fmt.Sprintf with words that depend on a number: of {vertex|vertices} in the format the first stands behind a %d that
// prints 1, and the second behind any other. A brace without a bar is itself.
func Text(format string, args ...any) string {
	var b strings.Builder
	arg, one := 0, false
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '%' && i+1 < len(format):
			end := i + 1
			for end < len(format)-1 && strings.IndexByte("+-# 0123456789.", format[end]) >= 0 {
				end++
			}
			if format[end] == 'd' && arg < len(args) {
				one = isOne(args[arg])
			}
			if format[end] != '%' {
				arg++
			}
			b.WriteString(format[i : end+1])
			i = end
		case c == '{':
			inside, _, ok := strings.Cut(format[i+1:], "}")
			single, several, has := strings.Cut(inside, "|")
			if !ok || !has {
				b.WriteByte(c)
				continue
			}
			if !one {
				single = several
			}
			b.WriteString(single)
			i += len(inside) + 1
		default:
			b.WriteByte(c)
		}
	}
	return fmt.Sprintf(b.String(), args...)
}

// isOne reports whether x is the whole number 1.
func isOne(x any) bool {
	v := reflect.ValueOf(x)
	return v.CanInt() && v.Int() == 1 || v.CanUint() && v.Uint() == 1
}

package torch

import "fmt"

// The values a pickle can make here. None, truth values, numbers and texts are
// nil, bool, int64, float64 and string; nothing else exists.
type (
	// tuple is a tuple, and a torch.Size.
	tuple []any
	// list is a list; it is shared by all that refer to it.
	list struct{ items []any }
	// dict is a dict or an OrderedDict, in the order of its file.
	dict struct{ keys, values []any }
	// name is a class, function or constant of a module, which is only
	// compared with the names that tensors need.
	name struct{ module, name string }
	// long is a whole number beyond int64, little-endian.
	long []byte
	// marker is where a run of items starts on the stack.
	marker struct{}
)

func (n name) String() string { return n.module + "." + n.name }

// describe names the sort of a value for a message.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case int64, long:
		return "a whole number"
	case float64:
		return "a number"
	case string:
		return "the text " + quoted(v)
	case tuple:
		return fmt.Sprintf("a tuple of %d", len(v))
	case *list:
		return fmt.Sprintf("a list of %d", len(v.items))
	case *dict:
		return fmt.Sprintf("a dict of %d", len(v.keys))
	case name:
		return v.String()
	case *storage:
		return "a storage"
	case *Tensor:
		return "a tensor"
	case *object:
		return "a value of " + v.class.String()
	case bytesOf:
		return "bytes"
	case marker:
		return "a mark"
	}
	return fmt.Sprintf("%T", v)
}

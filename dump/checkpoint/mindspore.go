package checkpoint

import (
	"bytes"
	"fmt"
	"io"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/protofield"
)

const (
	// mostNaming is how much of a value of MindSpore's checkpoint is looked through for its name, type and shape, which stand before the
	// elements.
	mostNaming = 1 << 16
	// sumMark is what stands before the checksum at the end, which save_checkpoint(…, crc_check=True) writes: ten bytes.
	sumMark, sumSize = "crc_num", 17
)

// mindspore reads MindSpore's checkpoint.proto: values of a name and a tensor, one behind the other. A large tensor is cut into
// several values of one name.
func (s *Set) mindspore(f io.ReaderAt, size int64) {
	type tensor struct {
		name  string
		kind  string
		shape []int64
		parts spans
	}
	var tensors []*tensor
	head := make([]byte, mostNaming)
	for at := int64(0); at < size; {
		n, err := f.ReadAt(head[:min(mostNaming, size-at)], at)
		if err != io.EOF {
			must.Do(err)
		}
		if n == sumSize && bytes.HasPrefix(head[:n], []byte(sumMark)) {
			break
		}
		num, kind, tag := protowire.ConsumeTag(head[:n])
		length, m := uint64(0), 0
		if tag > 0 && num == 1 && kind == protowire.BytesType {
			length, m = protowire.ConsumeVarint(head[tag:n])
		}
		if m <= 0 || length > uint64(size-at-int64(tag+m)) {
			must.Do(fmt.Errorf("offset %d: found no value of a checkpoint that ends within %d bytes; the file was cut, or is encrypted", at, size-at))
		}
		from := tag + m
		value := protofield.Value{Bytes: head[from:min(int64(n), int64(from)+int64(length))], Size: int64(length)}
		t := tensor{}
		part, other := span{at: -1}, false
		err = value.Walk(func(num protowire.Number, v protofield.Value) error {
			switch num {
			case 1:
				t.name = string(v.Bytes)
			case 2:
				return v.Walk(func(num protowire.Number, v protofield.Value) error {
					switch {
					case num == 1 && v.Bytes == nil:
						t.shape = append(t.shape, int64(v.Number))
					case num == 1: // packed
						for b := v.Bytes; len(b) > 0; {
							dim, n := protowire.ConsumeVarint(b)
							if n < 0 {
								return protofield.Err
							}
							t.shape, b = append(t.shape, int64(dim)), b[n:]
						}
					case num == 2:
						t.kind = string(v.Bytes)
					case num == 3: // the bytes are a part of head
						part = span{at: at + int64(cap(head)-cap(v.Bytes)), size: v.Size}
					}
					return nil
				})
			default:
				other = true // a table of embeddings
			}
			return nil
		})
		if err == nil && part.at < 0 && !other {
			err = fmt.Errorf("found no elements within %d bytes", mostNaming)
		}
		if err != nil {
			must.Do(fmt.Errorf("offset %d: the value %q: %w", at, t.name, err))
		}
		at += int64(from) + int64(length)
		if other || t.kind == "str" {
			continue
		}
		if n := len(tensors); n > 0 && tensors[n-1].name == t.name && len(tensors[n-1].parts) > 0 {
			tensors[n-1].parts = tensors[n-1].parts.add(part)
			continue
		}
		t.parts = t.parts.add(part)
		tensors = append(tensors, &t)
	}
	for _, t := range tensors {
		typ, ok := dtype.FromFramework(t.kind)
		if !ok {
			must.Do(fmt.Errorf("tensor %q has elements of type %q, expected one of those that numbers have here", t.name, t.kind))
		}
		held := t.parts.size()
		if len(t.shape) == 1 && t.shape[0] == 0 && held > 0 {
			t.shape = nil // so older releases write a scalar
		}
		v := contiguous(t.name, t.shape)
		if want := typ.Bytes(v.Len()); held != want {
			must.Do(fmt.Errorf("tensor %q has %d bytes, expected %d for %s %v", t.name, held, want, typ, t.shape))
		}
		parts := t.parts
		parts.of(f)
		s.put(t.name, typ, t.shape, false, func() tiles { return elements(parts, 0, typ, v) })
	}
}

// spans are the places in a file that a tensor lies in, one behind the other.
type spans []span

type span struct {
	at, size int64
	before   int64 // bytes of the spans before it
	file     io.ReaderAt
}

func (s spans) size() int64 {
	if len(s) == 0 {
		return 0
	}
	last := s[len(s)-1]
	return last.before + last.size
}

func (s spans) add(x span) spans {
	x.before = s.size()
	return append(s, x)
}

func (s spans) of(f io.ReaderAt) {
	for i := range s {
		s[i].file = f
	}
}

// ReadAt reads across spans.
func (s spans) ReadAt(p []byte, at int64) (n int, err error) {
	for i := sort.Search(len(s), func(i int) bool { return s[i].before+s[i].size > at }); i < len(s) && n < len(p); i++ {
		x := s[i]
		from := at + int64(n) - x.before
		k, err := x.file.ReadAt(p[n:n+int(min(int64(len(p)-n), x.size-from))], x.at+from)
		if n += k; err != nil && (err != io.EOF || n == 0) {
			return n, err
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

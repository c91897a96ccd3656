package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// frame writes a record as TensorFlow does.
func frame(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, Checksum(b[:8]))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, Checksum(data))
}

// fromTensorFlow is what tf.io.TFRecordWriter (2.15.1) wrote of b"one" and b"".
const fromTensorFlow = "\x03\x00\x00\x00\x00\x00\x00\x00\xb0\x99\x49\x0eone\x01\x40\x55\x08\x00\x00\x00\x00\x00\x00\x00\x00\x29\x03\x98\x07\xd8\xea\x82\xa2"

func TestWalk(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), whole/5)
	file := append([]byte(fromTensorFlow), frame(large)...)
	file = append(file, frame([]byte("last"))...)
	var got []Record
	err := Walk(bytes.NewReader(file), func(r Record) error {
		if !bytes.Equal(r.Head, file[r.Offset:r.Offset+int64(len(r.Head))]) {
			t.Errorf("the record at %d has other bytes", r.Offset)
		}
		r.Head = bytes.Clone(r.Head)
		got = append(got, r)
		return nil
	})
	if err != nil || len(got) != 4 || string(got[0].Head) != "one" || got[1].Size != 0 || got[2].Size != int64(len(large)) || len(got[2].Head) != beginning || string(got[3].Head) != "last" {
		t.Fatalf("%v, %d records", err, len(got))
	}
	// Every cut is one, at the record that is not whole; the others were given.
	for _, n := range []int{1, 11, 12, 14, 18, 19, len(fromTensorFlow) + 5, len(fromTensorFlow) + 500, len(file) - 30, len(file) - 1} {
		count := 0
		err := Walk(bytes.NewReader(file[:n]), func(Record) error { count++; return nil })
		failed := (*Error)(nil)
		switch {
		case n == 19: // between two records
			if err != nil || count != 1 {
				t.Errorf("cut at %d: %v, %d records", n, err, count)
			}
		case !errors.As(err, &failed) || !failed.Cut || failed.Offset > int64(n) || !strings.Contains(err.Error(), "the file ends after"):
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	// A byte that is another one is found, wherever it is.
	for _, at := range []int{0, 9, 12, 17, len(fromTensorFlow) + 12, len(fromTensorFlow) + whole, len(file) - 1} {
		bad := bytes.Clone(file)
		bad[at] ^= 1
		if err := Walk(bytes.NewReader(bad), func(Record) error { return nil }); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("changed at %d: %v", at, err)
		}
	}
}

package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"

	"precision/compare/report"
	"precision/compare/verdict"
)

// pageOf packs what should be a saved table as a page does.
func pageOf(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	b.WriteString("<html>" + dataBegin)
	text := base64.NewEncoder(base64.StdEncoding, &b)
	zip := gzip.NewWriter(text)
	zip.Write(data)
	zip.Close()
	text.Close()
	b.WriteString(dataEnd)
	return b.Bytes()
}

// A damaged page is refused; what is read from one makes a page again.
func FuzzRead(f *testing.F) {
	saved := []byte(fmt.Sprintf(`{"schema":%q,"table":{"meta":{"time":"2026-01-01T00:00:00Z"},"rows":{"op":["a"],"slot":[-1]}}}`, report.Schema))
	f.Add(saved, true)
	f.Add(pageOf(f, saved), false)
	f.Add([]byte(dataBegin+"AAAA"+dataEnd), false)
	f.Fuzz(func(t *testing.T, b []byte, inside bool) {
		if inside {
			b = pageOf(t, b)
		}
		table, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if !IsPage(b) {
			t.Fatal("what was read is no page")
		}
		var again bytes.Buffer
		if err := Write(&again, &verdict.Judged{Table: table.Table, Profile: verdict.Default()}, Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&again); err != nil {
			t.Fatal(err)
		}
	})
}

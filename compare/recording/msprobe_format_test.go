package recording_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/report"
)

// TestMsprobeColumns: the table for scripts has msprobe's columns, and in them what
// msprobe's own compare wrote; Result is this program's.
func TestMsprobeColumns(t *testing.T) {
	if _, err := os.Stat(real); err != nil {
		t.Skip("no recordings here")
	}
	for _, name := range []string{"cnn_l1_statistics", "block_mix_statistics", "cnn_l1_xor", "cnn_mix_tensor", "block_l1_md5_nanmask"} {
		j := judged(t, real+name+"/target", real+name+"/golden")
		var text bytes.Buffer
		if err := (report.Msprobe{}).Write(&text, j); err != nil {
			t.Fatal(err)
		}
		ours, err := csv.NewReader(&text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(real + name + "/expected.csv")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ours[0], theirs[0]) {
			t.Fatalf("%s: columns\n%v\nexpected\n%v", name, ours[0], theirs[0])
		}
		rows := map[string][]string{}
		for _, r := range theirs[1:] {
			rows[r[0]] = r
		}
		cells := 0
		for _, r := range ours[1:] {
			their := rows[r[0]]
			if their == nil {
				t.Errorf("%s: a row %s that msprobe has not", name, r[0])
				continue
			}
			for i, cell := range r {
				column := ours[0][i]
				if skip := []string{"Result", "Err_message", "NPU_Stack_Info", "NPU Requires_grad", "Bench Requires_grad", "Requires_grad Consistent",
					"One Thousandth Err Ratio", "Five Thousandths Err Ratio"}; slices.Contains(skip, column) || strings.HasPrefix(r[2], "<class") {
					continue
				}
				// Elements: single ones and constants have other rules there.
				if slices.Contains([]string{"Cosine", "EucDist", "MaxRelativeErr"}, column) && (cell == "unsupported" || their[i] == "unsupported") {
					continue
				}
				if !sameCell(cell, their[i]) {
					t.Errorf("%s: %s, %s: %q, msprobe has %q", name, r[0], column, cell, their[i])
				}
				cells++
			}
		}
		if cells < 500 {
			t.Errorf("%s: only %d cells", name, cells)
		}
	}
}

// sameCell compares two cells, numbers by value.
func sameCell(a, b string) bool {
	if strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) {
		return true
	}
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(a), "%"), 64)
	y, other := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(b), "%"), 64)
	// msprobe rounds some cells to 12 decimals, and passes others through text.
	return err == nil && other == nil && math.Abs(x-y) <= 1e-6*math.Max(math.Abs(x), math.Abs(y))+1e-9
}

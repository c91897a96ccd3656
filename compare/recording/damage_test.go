package recording_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/verdict"
)

// TestDamaged: files of every format cut short, with bytes changed, empty, replaced by
// folders or gone leave the rows of other calls, and are told: no panic, no fault
// found where there is none but damage.
func TestDamaged(t *testing.T) {
	all := append(append([]recorder(nil), recorders...), companions...)
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			golden := t.TempDir()
			steps := chain(-1, 0)
			r.write(t, golden, steps)
			random := rand.New(rand.NewPCG(7, uint64(len(r.name))))
			for round := range 12 {
				dir := t.TempDir()
				r.write(t, dir, steps)
				var files []string
				if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
					if err == nil && !e.IsDir() {
						files = append(files, path)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				path := files[random.IntN(len(files))]
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				switch round % 4 {
				case 0:
					data = data[:random.IntN(len(data))]
				case 1:
					for range 1 + random.IntN(8) {
						data[random.IntN(min(len(data), 200))] = byte(random.IntN(256)) // mostly headers
					}
				case 2:
					data = []byte(strings.Repeat(",\n", random.IntN(1000)))
				case 3:
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
					if random.IntN(2) == 0 {
						if err := os.Mkdir(path, 0o700); err != nil {
							t.Fatal(err)
						}
					}
				}
				if round%4 != 3 {
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				s, err := recording.Open(dir, golden, recording.Options{})
				if err != nil {
					if len(files) > 1 && !strings.Contains(r.name, "dumps") && !strings.HasSuffix(path, ".csv") {
						t.Errorf("%s: %v", path, err)
					}
					continue
				}
				out, err := engine.Run(context.Background(), s, engine.Options{})
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				certain := len(out.Table.Meta.Pairing.Why) > 0
				agreed := 0
				for i := range out.Table.Rows {
					row := &out.Table.Rows[i]
					certain = certain || len(row.Reasons) > 0 || row.Role == result.Whole
					if row.Compared && row.Result().Facts.BitEqual {
						agreed++
					} else if row.Recorded != nil {
						if same, known := row.Recorded.Agrees(); known && same {
							agreed++
						}
					}
				}
				if len(files) > 1 && agreed < len(steps)*2 {
					t.Errorf("%s, round %d: %d rows agree, expected most of %d", path, round, agreed, len(steps)*3)
				}
				j := verdict.Judge(out.Table, verdict.Options{})
				if !certain && j.Verdict == verdict.Good && round%4 == 3 {
					t.Errorf("%s, round %d: nothing is said", path, round)
				}
			}
		})
	}
}

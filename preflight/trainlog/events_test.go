package trainlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"precision/internal/tfrecord"
)

const made = "../../testdata/frameworks/made"

// TestEvents: the scalars of event files that TensorFlow wrote are what was given to it, also where a run has several
// files, one of which begins anew.
func TestEvents(t *testing.T) {
	var expected struct{ Losses map[string]float64 }
	text, err := os.ReadFile(made + "/expected.json")
	if err == nil {
		err = json.Unmarshal(text, &expected)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		steps int
	}{{"events/train", 10}, {"events/train/events.out.tfevents.1700000000.host.part0.v2", 6}, {"events/simple", 5}} {
		l, err := Open(context.Background(), filepath.Join(made, filepath.FromSlash(c.path)), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		loss := l.Find(Loss)
		if loss == nil || len(loss.Points) != c.steps || l.Replayed != 0 || !l.Events || l.Torn != "" {
			t.Fatalf("%s: %+v", c.path, l)
		}
		for i, p := range loss.Points {
			if want := expected.Losses[strconv.Itoa(i)]; p.Step != int64(i) || p.Value != float64(float32(want)) {
				t.Errorf("%s: %+v, want %v", c.path, p, want)
			}
		}
		if norm := l.Find(Norm); (norm != nil) != strings.Contains(c.path, "train") {
			t.Errorf("%s: the norm of gradients is %v", c.path, norm)
		}
	}
	// As PyTorch writes them, under other names.
	torch, err := Open(context.Background(), filepath.Join(made, "torch", "events"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	loss, norm := torch.Find(Loss), torch.Find(Norm)
	if loss == nil || norm == nil || len(loss.Points) != 8 || len(norm.Points) != 8 {
		t.Fatalf("%+v", torch)
	}
	for i, p := range loss.Points {
		if p != (Point{int64(i), float64(float32(3 / float64(i+1)))}) || norm.Points[i].Value != float64(1+i) {
			t.Errorf("PyTorch: %+v, %+v", p, norm.Points[i])
		}
	}
	// Two runs below a folder stay two.
	l, err := Open(context.Background(), filepath.Join(made, "events"), nil, nil)
	if err != nil || l.Find("train/loss") == nil || l.Find("simple/loss") == nil || l.Find(Loss) != nil {
		t.Errorf("%v, %+v", err, l)
	}
}

// TestEventsDamaged: a file that ends within a record was cut there, one that was changed is an error with its place.
func TestEventsDamaged(t *testing.T) {
	name := "events.out.tfevents.1700000000.host"
	whole, err := os.ReadFile(filepath.Join(made, "events", "simple", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	write := func(b []byte) (*Log, error) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return Open(context.Background(), path, nil, nil)
	}
	for n := 60; n < len(whole); n++ {
		l, err := write(whole[:n])
		nothing := (*NothingError)(nil)
		if err != nil && (!errors.As(err, &nothing) || n > 120) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if err == nil && l.Torn == "" && len(l.Find(Loss).Points) == 5 {
			t.Errorf("cut at %d: not told", n)
		}
	}
	// An event of another version: the checksums are right.
	record := func(b string) []byte {
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
		head = append(binary.LittleEndian.AppendUint32(head, tfrecord.Checksum(head)), b...)
		return binary.LittleEndian.AppendUint32(head, tfrecord.Checksum([]byte(b)))
	}
	for version, told := range map[string]bool{"brain.Event:2": false, "brain.Event:3": false, "other.Event:1": true} {
		_, err := write(append(record("\x1a"+string(rune(len(version)))+version), whole...))
		if failed := (*tfrecord.Error)(nil); errors.As(err, &failed) != told || told && !strings.Contains(err.Error(), version) {
			t.Errorf("%s: %v", version, err)
		}
	}
	for _, at := range []int{100, len(whole) - 1} {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		failed := (*tfrecord.Error)(nil)
		if _, err := write(bad); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), path+": offset ") || failed.Offset > int64(at) || failed.Offset < int64(at)-80 {
			t.Errorf("changed at %d: %v", at, err)
		}
	}
}

// TestKeras: the table and the progress bars of Keras say each metric of each epoch.
func TestKeras(t *testing.T) {
	table, err := Open(context.Background(), made+"/keras.csv", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	loss := table.Find(Loss)
	if !table.ByEpoch || loss == nil || len(loss.Points) != 3 || loss.Points[2].Step != 2 {
		t.Errorf("%+v", table)
	}
	bars, err := Open(context.Background(), made+"/keras.txt", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	points := bars.Find(Loss).Points
	if len(points) != 6 || bars.ByEpoch { // the first and the last batch of each epoch are drawn
		t.Errorf("%+v", bars)
	}
	for i, p := range loss.Points {
		if q := points[2*i+1]; math.Abs(q.Value-p.Value) > 1e-4 || q.Step != int64(3*(i+1)) {
			t.Errorf("epoch %d: %v in the table, %v in the bars", i, p, q)
		}
	}
	// verbose=2 has a line an epoch.
	short, err := Read(context.Background(), strings.NewReader("Epoch 1/2\n3/3 - 1s - loss: 2.5 - auc: 0.5 - val_loss: 2.6 - 1s/epoch\nEpoch 2/2\n3/3 - 0s - loss: 2.25 - auc: 0.75 - val_loss: 2.4 - 1s/epoch\n"), nil)
	if err != nil || !short.ByEpoch || short.Find("auc").Points[1] != (Point{2, 0.75}) || short.Find("val_loss").Points[0] != (Point{1, 2.6}) {
		t.Errorf("%v, %+v", err, short)
	}
	// A value an epoch has no partner in one a step.
	if d := Diff(table, bars, DefaultFloor); len(d.Quantities) > 0 {
		t.Errorf("%+v", d.Quantities)
	}
}

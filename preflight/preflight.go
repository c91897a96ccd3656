// Package preflight tells what two files are that are to be compared before an
// accuracy problem is looked for in the network: manifests of data, configurations
// or training logs. The packages below it read and compare each.
package preflight

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"precision/internal/plainfile"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/trainlog"
)

// Kind is what a file is.
type Kind string

// The kinds of files.
const (
	Manifest Kind = "manifest"
	Config   Kind = "config"
	Log      Kind = "log"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Manifest, Config, Log} }

// expected are the kinds that are read; the weights of two checkpoints are compared before it is asked what files are.
const expected = "a manifest, a configuration (YAML, JSON, TOML, INI, Python, shell), a training log (text, lines of JSON, csv, event files of TensorBoard or a folder of them) or weights"

// front is how much of a file says what it is.
const front = 1 << 16

// Detect tells what a file is by its name and how it begins.
func Detect(path string) (Kind, error) {
	if trainlog.IsEvents(path) {
		return Log, nil
	}
	file, _, err := plainfile.Open(path, expected)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text := make([]byte, front)
	n, err := io.ReadFull(file, text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	text = text[:n]
	ext := strings.ToLower(filepath.Ext(path))
	switch {
	case manifest.IsManifest(text):
		return Manifest, nil
	case ext == ".log" || ext == ".out" || ext == ".csv" || ext == ".jsonl":
		return Log, nil
	case bytes.IndexByte(text, 0) >= 0: // no text
	case (ext == "" || ext == ".txt" || ext == ".json") && isLog(text):
		return Log, nil
	case config.Detect(path, text) != "":
		return Config, nil
	}
	return "", &UnknownError{path, string(text[:min(len(text), 16)])}
}

// isLog tells whether a text has the loss of two steps, or is JSON line by line.
func isLog(text []byte) bool {
	if bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(text, []byte("}\n{")) {
		return false
	}
	l, err := trainlog.Read(context.Background(), bytes.NewReader(text), nil)
	if err != nil {
		return false
	}
	loss := l.Find(trainlog.Loss)
	return loss != nil && len(loss.Points) > 1
}

// UnknownError: a file is nothing that can be compared.
type UnknownError struct{ Path, Begins string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: begins with %q, expected %s", e.Path, e.Begins, expected)
}

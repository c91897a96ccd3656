package torch

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/npy"
	"precision/internal/must"
	"precision/internal/whole"
)

// suspectCosine is the largest cosine similarity of a row that is worth a closer look.
const suspectCosine = 0.95

// Suspicious tells whether the cosine similarity of a row is at most 0.95 or missing,
// whatever the reason: with post-processing such rows are worth a closer look.
func Suspicious(r *result.Row) bool {
	return !r.Compared || !(r.Result().Values[metric.CosineSimilarity].Float() > suspectCosine)
}

// WriteTensors writes the tensors of the suspicious rows into folder as .npy
// files, in the order they were compared in. Those that cannot be read are left
// out and returned as warnings.
func (f *Files) WriteTensors(ctx context.Context, t *result.Table, folder string) (warnings []error, err error) {
	left, right := f.left, f.right
	names := fileNames{}
	strided := right.device == deviceGPU || right.device == deviceCPU
	for i := range t.Rows {
		r := &t.Rows[i]
		if !Suspicious(r) {
			continue
		}
		for _, f := range []struct {
			side    *side
			label   string
			path    string
			strided bool
		}{{left, "npu", r.Left.File, false}, {right, "golden", r.Right.File, strided}} {
			if f.path == "" {
				continue
			}
			to := filepath.Join(folder, names.of(f.label, f.path))
			err := f.side.export(ctx, f.path, f.strided, to)
			if ctx.Err() != nil {
				return warnings, context.Cause(ctx)
			}
			if err != nil {
				warnings = append(warnings, fmt.Errorf("%s: %s: %w", f.side.path, f.path, err))
			}
		}
	}
	return warnings, nil
}

// export writes the tensor at path as an .npy file.
func (s *side) export(ctx context.Context, path string, strided bool, to string) (err error) {
	defer must.Catch(&err)
	t := s.at[path]
	must.Not(t == nil, "is no longer in the file")
	src := must.Get(s.open(t, strided))
	f := must.Get(whole.CreateOwn(to, 0o600))
	defer f.Discard()
	must.Do(npy.Copy(ctx, f, src.Type, src.Type, src.Shape, src.Open().ReadTile))
	return f.Commit()
}

// fileNames makes names for tensors: every name is used once, also where file
// names are the same in either case of letters.
type fileNames map[string]bool

// of turns /conv/3/input/self into npu_conv_3_input_self.npy. A name that is
// too long for a file, or taken, ends in a hash of the path.
func (n fileNames) of(label, path string) string {
	const most = 200
	name := label + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, "/"+strings.Trim(path, "/"))
	if len(name) > most || n[strings.ToLower(name)] {
		h := fnv.New64a()
		h.Write([]byte(path))
		name = fmt.Sprintf("%s-%016x", name[:min(len(name), most)], h.Sum64())
	}
	n[strings.ToLower(name)] = true
	return name + ".npy"
}

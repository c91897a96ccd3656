package checkpoint

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/dump/layout"
	"precision/dump/torch"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Checkpoints of trainings are folders in which ranks hold parts of tensors:
//
//	.metadata, __0_0.distcp, …                 torch.distributed.checkpoint
//	iter_0000100/mp_rank_01_002/model_optim_rng.pt   Megatron: tensor parallel rank 1, pipeline stage 2
//
// A folder above may name the newest iteration in latest_checkpointed_iteration.txt. Parts are put together as they are read.

const (
	plan   = ".metadata"
	latest = "latest_checkpointed_iteration.txt"
)

var (
	rankDir  = lazy.Regexp(`^mp_rank_(\d+)(?:_(\d+))?$`)
	layerAt  = lazy.Regexp(`^(.*\blayers\.)(\d+)(\..*)$`)
	rankFile = []string{"model_optim_rng.pt", "model_rng.pt", "model.pt"}
)

// nested finds a checkpoint of a training at or below a folder, and how it is opened; nil if there is none.
func nested(dir string) (string, func(*Set, string)) {
	for range 3 {
		if info, err := os.Lstat(filepath.Join(dir, plan)); err == nil && info.Mode().IsRegular() {
			return dir, (*Set).distributed
		}
		if ranks := ranksIn(dir); len(ranks) > 0 {
			return dir, (*Set).megatron
		}
		b, err := plainfile.ReadFile(filepath.Join(dir, latest), "the number of an iteration", 64)
		if err != nil {
			return "", nil
		}
		word := strings.TrimSpace(string(b))
		if n, err := strconv.Atoi(word); err == nil {
			word = fmt.Sprintf("iter_%07d", n)
		} else if word != "release" {
			return "", nil
		}
		dir = filepath.Join(dir, word)
	}
	return "", nil
}

// distributed opens a checkpoint of torch.distributed.checkpoint.
func (s *Set) distributed(dir string) {
	path := filepath.Join(dir, plan)
	f, _, err := plainfile.Open(path, "the metadata of a checkpoint")
	must.Do(err)
	list, err := torch.ReadMetadata(f)
	f.Close()
	inFile(path, func() { must.Do(err) })
	files := map[string]*plainfile.File{}
	for _, t := range list {
		all := &pieced{shape: t.Shape, size: t.Type.Bits() / 8}
		for _, p := range t.Pieces {
			inFile(path, func() { inside(fmt.Sprintf("the file of %q", t.Name), func() { must.Do(plainfile.CheckName(p.File)) }) })
			f := files[p.File]
			if f == nil {
				f, _, err = plainfile.Open(filepath.Join(dir, p.File), "a part of a checkpoint")
				must.Do(err)
				files[p.File] = f
				s.files = append(s.files, f)
			}
			if !fits(p.Offset, p.Shape, t.Shape) {
				must.Do(plainfile.At(path, fmt.Errorf("a piece of %q lies at %v with shape %v, expected it inside %v", t.Name, p.Offset, p.Shape, t.Shape)))
			}
			part := io.NewSectionReader(f, p.At, p.Length)
			all.pieces = append(all.pieces, &piece{offset: p.Offset, shape: p.Shape, open: func() tiles {
				x := must.Get(must.Get(torch.Read(part, part.Size())).Bare())
				if x.Type != t.Type || !slices.Equal(x.Shape, p.Shape) {
					must.Do(fmt.Errorf("found %s %v, expected %s %v", x.Type, x.Shape, t.Type, p.Shape))
				}
				return must.Get(x.Reader(part))
			}})
		}
		s.put(t.Name, t.Type, t.Shape, false, all.reader)
		s.Tensors[len(s.Tensors)-1].File = dir
	}
}

// fits tells whether a piece lies inside a shape.
func fits(offset, piece, shape []int64) bool {
	if len(offset) != len(shape) || len(piece) != len(shape) {
		return false
	}
	for i := range shape {
		if offset[i] < 0 || piece[i] < 0 || offset[i] > shape[i]-piece[i] {
			return false
		}
	}
	return true
}

// pieced is a tensor that lies in pieces.
type pieced struct {
	shape  []int64
	size   int // of an element
	pieces []*piece
}

// piece is a part of a tensor, a block of shape from offset on.
type piece struct {
	offset, shape []int64
	open          func() tiles
}

// reader reads it, each piece through a reader of its own.
func (p *pieced) reader() tiles {
	return &piecedReader{pieced: p, open: make([]tiles, len(p.pieces))}
}

type piecedReader struct {
	*pieced
	open []tiles
}

// ReadTile reads the elements in runs along the last axis.
func (r *piecedReader) ReadTile(dst []byte, first, n int64) (err error) {
	defer must.Catch(&err)
	at := make([]int64, len(r.shape))
	for n > 0 {
		nd.PlaceIn(first, r.shape, at)
		k := slices.IndexFunc(r.pieces, func(p *piece) bool { return p.holds(at) })
		if k < 0 {
			return fmt.Errorf("no file holds the element at %v", at)
		}
		p := r.pieces[k]
		if r.open[k] == nil {
			r.open[k] = p.open()
		}
		// As far as whole rows of the tensor are rows of the piece, a run goes on over them.
		run, inner := int64(1), int64(0)
		for i := len(r.shape) - 1; i >= 0; i-- {
			run += (p.offset[i] + p.shape[i] - 1 - at[i]) * stride(r.shape, i)
			if p.shape[i] != r.shape[i] {
				break
			}
		}
		for i := range at {
			inner = inner*p.shape[i] + at[i] - p.offset[i]
		}
		run = min(run, n)
		must.Do(r.open[k].ReadTile(dst[:run*int64(r.size)], inner, run))
		dst, first, n = dst[run*int64(r.size):], first+run, n-run
	}
	return nil
}

func stride(shape []int64, axis int) int64 {
	n, _ := layout.Count(shape[axis+1:])
	return n
}

func (p *piece) holds(at []int64) bool {
	for i := range at {
		if at[i] < p.offset[i] || at[i] >= p.offset[i]+p.shape[i] {
			return false
		}
	}
	return true
}

// rank is a folder of Megatron: of a tensor parallel rank and a pipeline stage.
type rank struct {
	tensor, stage int
	path          string
}

func ranksIn(dir string) (list []rank) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		m := rankDir().FindStringSubmatch(e.Name())
		if m == nil || !e.IsDir() {
			continue
		}
		for _, name := range rankFile {
			path := filepath.Join(dir, e.Name(), name)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				t, _ := strconv.Atoi(m[1])
				p, _ := strconv.Atoi(m[2])
				list = append(list, rank{t, p, path})
				break
			}
		}
	}
	order.Stable(list, func(a, b rank) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.tensor, b.tensor)) })
	return list
}

// megatron opens the ranks of a checkpoint of Megatron and puts tensors together that tensor parallel ranks cut. Stages of a pipeline
// number their layers from 0.
func (s *Set) megatron(dir string) {
	layers, cut := 0, 0
	ranks := ranksIn(dir)
	for len(ranks) > 0 {
		n := slices.IndexFunc(ranks, func(r rank) bool { return r.stage != ranks[0].stage })
		if n < 0 {
			n = len(ranks)
		}
		if cut > 0 && n != cut {
			must.Do(fmt.Errorf("%s: %d tensor parallel ranks of stage %d, expected %d as before it", dir, n, ranks[0].stage, cut))
		}
		cut = n
		var parts [][]*Tensor
		for _, r := range ranks[:n] {
			one := &Set{Path: r.path}
			err := must.Try(func() { one.add(r.path) })
			s.files = append(s.files, one.files...)
			must.Do(err)
			parts = append(parts, modelOf(one.Tensors))
		}
		most := 0
		for i, t := range parts[0] {
			same := []*Tensor{t}
			for _, other := range parts[1:] {
				if i >= len(other) || other[i].Name != t.Name || len(other[i].Shape) != len(t.Shape) || other[i].Type != t.Type {
					must.Do(fmt.Errorf("%s: the ranks of a tensor parallel group hold different tensors, at %q", dir, t.Name))
				}
				same = append(same, other[i])
			}
			joined := join(same, gated(t, parts[0]))
			if m := layerAt().FindStringSubmatch(joined.Name); m != nil {
				l, _ := strconv.Atoi(m[2])
				most = max(most, l+1)
				joined.Name = m[1] + strconv.Itoa(l+layers) + m[3]
			}
			s.Tensors = append(s.Tensors, joined)
		}
		layers += most
		ranks = ranks[n:]
	}
}

// modelOf are the tensors of the model in what a rank saved, without the words before their names.
func modelOf(all []*Tensor) (list []*Tensor) {
	for _, t := range all {
		name, ok := strings.CutPrefix(t.Name, "model.")
		if ok && t.Len() > 0 && !strings.Contains(name, "_extra_state") {
			t.Name = name
			list = append(list, t)
		}
	}
	return list
}

// How Megatron cuts tensors: products by the rows of their outputs, those behind them by columns; fc1 holds gate and up, of which
// each rank has a part of both.
var (
	byRows    = lazy.Regexp(`(?:word_embeddings|output_layer|linear_qkv|linear_fc1)\.(?:weight|bias)\d*$`)
	byColumns = lazy.Regexp(`(?:linear_proj|linear_fc2)\.weight\d*$`)
)

// gated tells whether a first product of an MLP holds gate and up: it has twice as many rows as the second has columns.
func gated(t *Tensor, all []*Tensor) bool {
	head, tail, is := strings.Cut(t.Name, "linear_fc1.")
	if !is {
		return false
	}
	second := head + "linear_fc2.weight" + strings.TrimPrefix(strings.TrimPrefix(tail, "weight"), "bias")
	at := slices.IndexFunc(all, func(x *Tensor) bool { return x.Name == second })
	return at >= 0 && len(all[at].Shape) == 2 && t.Shape[0] == 2*all[at].Shape[1]
}

// join is a tensor of which ranks hold parts.
func join(parts []*Tensor, gated bool) *Tensor {
	t := parts[0]
	axis := -1
	switch {
	case len(parts) == 1:
	case byRows().MatchString(t.Name) && len(t.Shape) > 0:
		axis = 0
	case byColumns().MatchString(t.Name) && len(t.Shape) == 2:
		axis = 1
	}
	if axis < 0 {
		return t
	}
	halves := int64(1)
	if gated {
		halves = 2
	}
	shape := slices.Clone(t.Shape)
	shape[axis] *= int64(len(parts))
	all := &pieced{shape: shape, size: t.Type.Bits() / 8}
	for half := range halves {
		for i, part := range parts {
			offset, size := make([]int64, len(shape)), slices.Clone(part.Shape)
			size[axis] /= halves
			offset[axis] = half*shape[axis]/halves + int64(i)*size[axis]
			from := half * size[axis] * stride(part.Shape, axis) // axis is 0 where there are halves
			all.pieces = append(all.pieces, &piece{offset: offset, shape: size, open: func() tiles { return shifted{part.open(), from} }})
		}
	}
	return &Tensor{Name: t.Name, Type: t.Type, Shape: shape, BigEndian: t.BigEndian, File: t.File, open: all.reader}
}

// shifted reads from an element on.
type shifted struct {
	tiles
	from int64
}

func (s shifted) ReadTile(dst []byte, first, n int64) error {
	return s.tiles.ReadTile(dst, s.from+first, n)
}

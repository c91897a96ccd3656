package read

import (
	"archive/zip"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"precision/graph"
)

// readOM2 reads the zip form of an offline model. Each model inside carries its graph as JSON for viewers,
// data/model_<k>/debug/ge_visual_*_graph_*.json, with attributes as plain objects.
func readOM2(ctx context.Context, r io.ReaderAt, size int64, name string) (*graph.Model, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &graph.Error{Path: name, Offset: 0, Msg: graph.Messagef("zip: %v", err)}
	}
	var files []*zip.File
	for _, f := range z.File {
		if base := path.Base(f.Name); strings.HasPrefix(base, "ge_visual_") && strings.HasSuffix(base, ".json") {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	if len(files) == 0 {
		return nil, &graph.Error{Path: name, Offset: 0, Msg: graph.Messagef("zip file without a ge_visual_*.json graph")}
	}
	var out *graph.Model
	for _, f := range files {
		m, err := readOM2Graph(ctx, f, name)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = m
			continue
		}
		out.SubModels = append(out.SubModels, m)
		out.Graphs = append(out.Graphs, m.Graphs...)
		out.Warnings = append(out.Warnings, m.Warnings...)
	}
	out.Warnings = graph.FewWarnings(out.Warnings)
	return out, nil
}

// maxOM2Ratio bounds how much a zip entry may grow when unpacked: graphs shrink about twentyfold, bombs a
// thousandfold.
const maxOM2Ratio = 200

func readOM2Graph(ctx context.Context, f *zip.File, name string) (*graph.Model, error) {
	at := name + "!" + f.Name
	rc, err := f.Open()
	if err != nil {
		return nil, &graph.Error{Path: at, Offset: 0, Msg: graph.Messagef("zip: %v", err)}
	}
	defer rc.Close()
	limit := int64(min(f.CompressedSize64, 1<<40))*maxOM2Ratio + 1<<20
	m, err := readJSON(&stopping{ctx, io.LimitReader(rc, limit)}, at, true)
	if err != nil {
		return nil, err
	}
	m.Path, m.Source = name, graph.SourceOM2
	return m, nil
}

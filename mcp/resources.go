package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/compare/job"
	"precision/compare/report"
	"precision/graph/describe"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/run"
	"precision/run/explain"
)

// Addresses of resources.
const (
	skillURI = "precision://skill"
	tableURI = "precision://table"
	graphURI = "precision://graph"
)

// Bounds of the search for resources.
const (
	mostResources = 200
	mostSearched  = 20_000 // files and folders
	mostDeep      = 6
)

func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{URI: skillURI, Name: "skill", Title: "How to find a cause", Description: "How an assistant finds where an error begins, in at most five calls", MIMEType: "text/markdown"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return contents(req, "text/markdown", Skill), nil
		})
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: tableURI + "{/path*}", Name: "table", Description: "the verdict on a saved table, its roots and states, below the folders given at start", MIMEType: "application/json"}, s.readTable)
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: graphURI + "{/path*}", Name: "graph", Description: "an overview of a graph below the folders given at start", MIMEType: "text/plain"}, s.readGraph)
	// What is in the folders is looked up when it is asked for: a server starts at once, and files come and go.
	s.sdk.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "resources/list" {
				s.findResources()
			}
			return next(ctx, method, req)
		}
	})
}

// contents is a resource of text.
func contents(req *sdk.ReadResourceRequest, kind, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: kind, Text: text}}}
}

// pathOf is the path in the address of a resource.
func pathOf(uri, base string) string {
	u, err := url.Parse(uri)
	must.Not(err != nil || !strings.HasPrefix(uri, base), "%s: not an address of this server", uri)
	return u.Path
}

func (s *Server) readTable(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	return plain(func() *sdk.ReadResourceResult {
		x := s.tables.open(ctx, pathOf(req.Params.URI, tableURI))
		return contents(req, "application/json", string(must.Get(json.Marshal(s.summary(x, "")))))
	})
}

func (s *Server) readGraph(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	return plain(func() *sdk.ReadResourceResult {
		m := must.Get(run.OpenGraph(ctx, s.f.path(pathOf(req.Params.URI, graphURI))))
		return contents(req, "text/plain", clip(describe.Summary(msg.English, m.Summary()), mostBytes/2))
	})
}

// plain gives what some work gives, or the error that ended it, in English.
func plain[T any](work func() T) (v T, err error) {
	if v, err = must.Of(work); err != nil {
		err = errors.New(clip(clean.Text(explain.Error(msg.English, err)), 4*mostText))
	}
	return v, err
}

// findResources adds the tables and graphs that are in the folders, and takes away those that were.
func (s *Server) findResources() {
	found := map[string]*sdk.Resource{}
	left := mostSearched
	for _, dir := range s.f.real {
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 || len(found) >= mostResources {
				return fs.SkipAll
			}
			if err != nil {
				return nil
			}
			if e.IsDir() {
				if rel, err := filepath.Rel(dir, path); err == nil && strings.Count(rel, string(filepath.Separator)) >= mostDeep {
					return fs.SkipDir
				}
				return nil
			}
			if base, kind := resourceOf(path, e); base != "" {
				rel, _ := filepath.Rel(dir, path)
				at := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
				r := &sdk.Resource{URI: base + at, Name: filepath.ToSlash(rel), MIMEType: kind,
					Description: strings.TrimPrefix(base, "precision://") + " " + path}
				found[r.URI] = r
			}
			return nil
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []string
	for uri := range s.resources {
		if found[uri] == nil {
			gone = append(gone, uri)
			delete(s.resources, uri)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		s.sdk.RemoveResources(gone...)
	}
	for uri, r := range found {
		if !s.resources[uri] {
			s.resources[uri] = true
			read := s.readTable
			if strings.HasPrefix(uri, graphURI) {
				read = s.readGraph
			}
			s.sdk.AddResource(r, read)
		}
	}
}

// resourceOf tells what a file is by its name, and of JSON by its beginning; base is empty for others.
func resourceOf(path string, e fs.DirEntry) (base, kind string) {
	name := strings.ToLower(e.Name())
	switch {
	case !e.Type().IsRegular():
	case strings.HasSuffix(name, "_build.txt"), strings.HasSuffix(name, ".om"):
		return graphURI, "text/plain"
	case strings.HasPrefix(name, "result_") && strings.HasSuffix(name, ".csv"):
		return tableURI, "application/json"
	case strings.HasSuffix(name, ".json"):
		if schema := job.SchemaOf(path); strings.HasPrefix(schema, strings.TrimRight(report.Schema, "0123456789")) || schema == job.Schema {
			return tableURI, "application/json"
		}
	}
	return "", ""
}

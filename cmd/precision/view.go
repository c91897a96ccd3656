package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"precision/compare/job"
	"precision/internal/clean"
	"precision/internal/desktop"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/run"
	"precision/run/explain"
)

// viewCommand shows a report in the browser, or serves it to this machine alone.
func viewCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("view")
	serve := set.Bool("serve", false, text("serve"))
	port := set.Int("port", 0, text("port"))
	files := e.words("view", set, args)
	misusedIf(len(files) > 1, "err.view.files", len(files), strings.Join(files, ", "))
	path := must.Get(newestPage(ctx, e.language(), append(files, ".")[0]))
	fmt.Fprintln(e.stdout, clean.Text(e.language().T("cli.view.page", path)))
	if !*serve && *port == 0 && desktop.Open(path) == nil {
		return exitOK, nil
	}
	return servePage(ctx, e, path, *port)
}

// newestPage is the page of that name, that of a result or a job, or the newest one in a folder.
func newestPage(ctx context.Context, lang msg.Lang, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || run.Begins(filepath.Join(path, job.PageFile)) == '<' && job.SchemaOf(filepath.Join(path, job.ResultFile)) == job.Schema {
		if schema := job.SchemaOf(path); run.Begins(path) == '{' && !strings.HasPrefix(schema, "precision/") {
			return "", explain.Say("err.view.file", path)
		}
		return run.PageOf(ctx, lang, path)
	}
	best := ""
	var newest time.Time
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(name), ".html") {
			return nil // a folder that cannot be read holds no report one could show
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(newest) && run.IsPage(name) {
			best, newest = name, info.ModTime()
		}
		return nil
	})
	if err == nil && best == "" {
		err = explain.Say("err.view.file", path)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(best)
}

// servePage serves one page on the loopback address, under a name nobody can
// guess, until it is interrupted.
func servePage(ctx context.Context, e env, path string, port int) (int, error) {
	listener := must.Get(net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)))
	token := rand.Text()
	address := url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/" + token + "/"}
	lang := e.language()
	fmt.Fprintln(e.stdout, lang.T("cli.view.at", address.String()))
	if os.Getenv("SSH_CONNECTION") != "" {
		host, _ := os.Hostname()
		name := host
		if u, err := user.Current(); err == nil {
			name = u.Username + "@" + host
		}
		_, number, _ := net.SplitHostPort(listener.Addr().String())
		fmt.Fprintln(e.stdout, lang.T("cli.view.ssh", fmt.Sprintf("ssh -N -L %s:127.0.0.1:%s %s", number, number, name)))
	}
	fmt.Fprintln(e.stdout, lang.T("cli.view.end"))
	server := &http.Server{Handler: pageHandler(path, token, listener.Addr().String()), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return exitError, err
	}
	return exitOK, nil
}

// pageHandler gives the page, and the reports below its folder that it shows in place, to who knows the token, and asks for this
// very host, so that no other site can read it through a name that leads here.
func pageHandler(path, token, host string) http.Handler {
	_, port, _ := net.SplitHostPort(host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, part, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		known := r.Host == host || r.Host == net.JoinHostPort("localhost", port)
		if !known || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 || r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		name := path
		if part != "" {
			name = filepath.Join(filepath.Dir(path), filepath.FromSlash(part))
			if !filepath.IsLocal(filepath.FromSlash(part)) || !run.IsPage(name) {
				http.NotFound(w, r)
				return
			}
		}
		file, _, err := plainfile.Open(name, "a report")
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		defer file.Close()
		http.ServeContent(w, r, "", time.Time{}, file)
	})
}

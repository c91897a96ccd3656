// Package repl is the shell of precision: it answers questions about a folder
// precision_data with commands typed at a prompt, read from a script, or given
// as a sub-command of the program.
//
// Run is the shell, Command one of its commands; both share one
// implementation. Everything they need of the outside is in a Config.
//
// The rooms: package console is the face, workspace the data folder, array one
// tensor for people, capture the scripts that record on a training machine. The
// commands, which use them, are here, each in a file of its name.
package repl

import (
	"context"
	"embed"
	"io"
	"os"
	"path/filepath"

	"precision/console"
	"precision/internal/msg"
	"precision/repl/workspace"
	"precision/run/explain"
)

// Config is what a session may touch of the outside, and the choices of the
// command line.
type Config struct {
	// Stdin gives the commands of a script, and is the terminal of an
	// interactive session; Stdout gets what commands show, Stderr messages.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Dir is the data folder, or the folder that holds precision_data; empty
	// takes that of the settings, by default precision_data in the current
	// folder, or the current folder where that is one.
	Dir string
	// Lang is the language, en or zh; empty takes that of the settings or of
	// the environment.
	Lang string
	// Commands are commands to run instead of those on Stdin, separated by
	// semicolons or line breaks.
	Commands string
	// Width is the number of columns output must fit into. 0 takes that of the
	// terminal; into a pipe or a file nothing is folded.
	Width int
	// History is the file that keeps the lines typed, and ConfigDir the folder
	// of the user's settings. Empty takes those of the user.
	History, ConfigDir string
	// Version is shown at the start.
	Version string
	// State is the folder that keeps the last result of the user; empty keeps none.
	State string
	// More are commands of the program that the shell has none of its own for: they are the same in both.
	More []More
}

// More is a command of the program in the shell.
type More struct {
	Info
	// Run runs it in the language of the session, for its data folder.
	Run func(ctx context.Context, lang, data string, args []string) int
	// Complete suggests the word behind those of a line, the first of them the command.
	Complete func(words []string, word string) []Info
}

// more is the command of that name of the program's, nil if there is none.
func (s *session) more(name string) *More {
	if name == "b" {
		name = "browse"
	}
	for i := range s.cfg.More {
		if s.cfg.More[i].Name == name {
			return &s.cfg.More[i]
		}
	}
	return nil
}

// Exit statuses of commands; that of a session is the worst.
const (
	exitOK          = console.OK
	exitError       = console.Error
	exitNothing     = console.Nothing
	exitBelow       = console.Below
	exitInterrupted = console.Interrupted
)

// session is a shell at work.
type session struct {
	*console.Console
	cfg  Config
	set  workspace.Settings
	data *workspace.Workspace

	// reported are the remarks about the data folder that were made: each is made once.
	reported       map[string]bool
	reportedDecode bool // that tensors cannot be decoded has been told
}

// open reads the settings and prepares a session. What is wrong with settings
// is told and does not end the session.
func open(cfg Config) *session {
	s, lang := &session{cfg: cfg, set: workspace.Defaults(), reported: map[string]bool{}}, msg.FromEnv(os.Getenv)
	if cfg.ConfigDir == "" {
		s.cfg.ConfigDir = workspace.ConfigFolder()
	}
	var wrong []error
	user := ""
	if s.cfg.ConfigDir != "" {
		user = filepath.Join(s.cfg.ConfigDir, workspace.SettingsFile)
	}
	load := func(dir string) {
		if dir == "" {
			return
		}
		w, err := s.set.Load(filepath.Join(dir, workspace.SettingsFile), user)
		if wrong = append(wrong, w...); err != nil {
			wrong = append(wrong, err)
		}
	}
	load(s.cfg.ConfigDir)
	if cfg.Dir != "" {
		s.set.Data = cfg.Dir
	}
	root := workspace.Locate(s.set.Data)
	s.set.Data = root
	load(root)
	s.data = workspace.Open(root)
	for _, name := range []string{s.set.Lang, cfg.Lang} {
		if l, ok := msg.ParseLang(name); ok {
			lang = l
		}
	}
	s.Console = console.New(cfg.Stdin, cfg.Stdout, cfg.Stderr, cfg.Width, lang)
	s.Unattended = cfg.Commands != ""
	s.Explain = explain.Error
	if cfg.Lang != "" {
		if _, ok := msg.ParseLang(cfg.Lang); !ok {
			s.Warn("lang.unknown", cfg.Lang)
		}
	}
	for _, err := range wrong {
		s.Warn("settings.bad", err)
	}
	return s
}

// texts are what this package says.
//
//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Package repl is the shell of precision: it answers questions about a folder
// precision_data with commands typed at a prompt, read from a script, or given
// as a sub-command of the program.
//
// Run is the shell, Command one of its commands; both share one
// implementation. Everything they need of the outside is in a Config.
//
// # The data folder
//
//	npu/<debug id>/dump/<time>/<device>/<model>/<model id>/<step>  dumps
//	npu/<debug id>/graph/                                          GE graphs
//	overflow/dump/<time>/…                                         overflow dumps
//	fusion/fusion_result.json                                      fusion statistics
//	tf/dump/                                                       golden arrays
//	temp/                                                          what commands write
//
// Of several runs the newest counts. Graphs and dumps are read when a command
// first needs them. Nothing is created before there is something to write.
package repl

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"precision/dump"
	"precision/internal/msg"
	"precision/repl/console"
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
	// Batch makes Run read Stdin as a script even if it is a terminal.
	Batch bool
	// Width is the number of columns output must fit into. 0 takes that of the
	// terminal; into a pipe or a file nothing is folded.
	Width int
	// History is the file that keeps the lines typed, and ConfigDir the folder
	// of the user's settings. Empty takes those of the user.
	History, ConfigDir string
	// Version is shown at the start.
	Version string
}

// Exit statuses of commands; that of a session is the worst.
const (
	exitOK          = console.OK
	exitError       = console.Error
	exitNothing     = console.Nothing
	exitInterrupted = console.Interrupted
)

// session is a shell at work.
type session struct {
	*console.Console
	cfg  Config
	set  Settings
	data dataFolder

	idList     []*debugID
	listed     bool
	golden     *dump.Folder
	goldenRead bool
	h5         map[string]*h5Side // PyTorch dumps that were read, by side

	toldDecode bool // that tensors cannot be decoded has been told
	// goldenState changes when the folder of golden arrays does.
	goldenState string
}

// open reads the settings and prepares a session. What is wrong with settings
// is told and does not end the session.
func open(cfg Config) *session {
	s, lang := &session{cfg: cfg, set: defaults()}, msg.FromEnv(os.Getenv)
	if cfg.ConfigDir == "" {
		s.cfg.ConfigDir = configFolder()
	}
	var wrong []error
	load := func(dir string) {
		if dir == "" {
			return
		}
		w, err := s.set.load(filepath.Join(dir, settingsFile))
		if wrong = append(wrong, w...); err != nil {
			wrong = append(wrong, err)
		}
	}
	load(s.cfg.ConfigDir)
	if cfg.Dir != "" {
		s.set.Data = cfg.Dir
	}
	s.set.Data = locate(s.set.Data)
	root := s.set.Data
	load(root)
	if s.set.Data != root { // a data folder does not name another
		wrong = append(wrong, fmt.Errorf("%s: data: has no effect in the file of a data folder; it belongs in %s",
			filepath.Join(root, settingsFile), filepath.Join(s.cfg.ConfigDir, settingsFile)))
	}
	s.data = dataFolder{root}
	for _, name := range []string{s.set.Lang, cfg.Lang} {
		if l, ok := msg.ParseLang(name); ok {
			lang = l
		}
	}
	s.Console = console.New(cfg.Stdin, cfg.Stdout, cfg.Stderr, cfg.Width, lang)
	s.Unattended = cfg.Commands != ""
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

// ids are the runs of the NPU in the data folder, by name.
func (s *session) ids() []*debugID {
	if !s.listed {
		s.idList, s.listed = s.data.ids(), true
	}
	return s.idList
}

// id is the run of that name, nil if there is none.
func (s *session) id(name string) *debugID {
	for _, id := range s.ids() {
		if id.name == name {
			return id
		}
	}
	return nil
}

// firstID is the run that others are compared with: debug_0, else the first by
// name, nil without any.
func (s *session) firstID() *debugID {
	if id := s.id("debug_0"); id != nil || len(s.ids()) == 0 {
		return id
	}
	return s.ids()[0]
}

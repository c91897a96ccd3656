package job

// Note is something to know of a run: a kind and its arguments. A face says it in a
// language.
type Note struct {
	Kind string
	Args []string
}

// The notes, with their arguments.
const (
	NoteResumed        = "resumed"         // units that are done, of
	NoteChanged        = "changed"         // units whose inputs are others now
	NoteContent        = "content"         // units whose inputs hold something else than what was read
	NoteTables         = "tables"          // units whose tables are not what was written, the first of them
	NoteJournalCut     = "journal-cut"     // path, units that are whole
	NoteJournalLost    = "journal-lost"    // path: nothing in it can be read
	NoteJournalVersion = "journal-version" // path, its version, ours
	NoteJournalOptions = "journal-options" // path
	NoteLockTaken      = "lock-taken"      // path, host, pid: of a run that is gone
)

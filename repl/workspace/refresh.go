package workspace

// Refresh drops what is known of folders that have changed since, so that a
// session sees what is captured while it is open. Folders are looked at, not listed.
func (w *Workspace) Refresh() {
	w.listings.forget()
	w.mu.Lock()
	defer w.mu.Unlock()
	known := map[string]*DebugID{}
	for _, id := range w.idList {
		if !id.looks.changed() {
			known[id.Name] = id
		}
	}
	if w.listed && (w.idLooks.changed() || len(known) < len(w.idList)) {
		w.state++
		w.idLooks = &looks{}
		w.idList = w.findIDs()
		for i, id := range w.idList {
			if old := known[id.Name]; old != nil {
				w.idList[i] = old
			}
		}
	}
	if w.goldenLooks.changed() {
		w.state++
		w.forgetGolden()
	}
	if w.h5Looks.changed() {
		w.state++
		w.h5, w.h5Known, w.h5Looks = nil, false, &looks{}
	}
}

// State changes when Refresh finds that graphs, dumps or golden arrays of the data
// folder have. It is never 0.
func (w *Workspace) State() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

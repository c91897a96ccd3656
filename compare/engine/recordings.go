package engine

import (
	"fmt"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump"
)

// takeRecording settles which of several recordings in a folder is compared: the
// one that holds the time the user asked for, else the newest complete one.
// What was passed over goes into side; before is the recording before the one that is taken, nil without one.
func takeRecording(f *dump.Folder, want, which string, side *result.Side) (taken, before *dump.Folder, notes []result.Reason, err error) {
	list := f.Recordings()
	if len(list) == 0 {
		several := 0
		for _, op := range f.Ops {
			if len(op.Files) > 1 && op.Slicing == dump.Whole {
				several++
			}
		}
		if want != "" {
			return nil, nil, nil, fmt.Errorf("%s: the files make no complete recordings, so none can be chosen by the time %s", f.Dir, want)
		}
		return f, nil, []result.Reason{result.Because(result.SeveralOfOperator, which, f.Dir, count(several))}, nil
	}
	take := dump.Newest(list)
	if want != "" {
		take = -1
		for i, r := range list {
			if t, err := strconv.ParseUint(want, 10, 64); strings.HasPrefix(r.Name(), want) || err == nil && t >= r.First && t <= r.Last {
				take = i
			}
		}
		if take < 0 {
			return nil, nil, nil, &NoRecordingError{Dir: f.Dir, Time: want, Recordings: list}
		}
	}
	if len(list) == 1 {
		return f, nil, nil, nil
	}
	side.Recording = list[take].Name()
	for i, r := range list {
		if i != take {
			side.Others = append(side.Others, r.Name())
		}
	}
	if take > 0 {
		before = f.Take(list[take-1])
	}
	note := result.Because(result.OtherRecordings, which, f.Dir, side.Recording, count(list[take].Ops), strings.Join(side.Others, ", "))
	return f.Take(list[take]), before, []result.Reason{note}, nil
}

// NoRecordingError: a folder has no recording of the time that was asked for.
type NoRecordingError struct {
	Dir, Time  string
	Recordings []dump.Recording
}

func (e *NoRecordingError) Error() string {
	return fmt.Sprintf("%s: no recording of the time %s, found %s", e.Dir, e.Time, strings.Join(e.Names(), ", "))
}

// Names are the times of the recordings that there are.
func (e *NoRecordingError) Names() (have []string) {
	for _, r := range e.Recordings {
		have = append(have, r.Name())
	}
	return have
}

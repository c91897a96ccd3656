package result

import (
	"cmp"
	"errors"
)

// Damage is something that was recorded and cannot be believed: a file cut short or
// unreadable, one that contradicts its header, its name or its statistics, a recording
// that ends early. It is not the same as what was never recorded: that has a [Reason]
// of the class NoDump or NoGolden and no Damage.
type Damage struct {
	// Name is what is damaged, as users name it: a tensor ("conv1:output:0"), an
	// operator, a call, a rank, or the file itself where it holds more than one.
	Name string `json:"name"`
	// File is the path of the file, Offset the byte (of a text file, the byte of the
	// token) at which it was found out; -1 where no place can be told.
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	// Reason says what was found and what was expected.
	Reason Reason `json:"reason" column:""`
}

// DamageOf makes damage of what a reader says: file is where it read, unless the error
// knows better.
func DamageOf(name, file string, reason Reason, err error) Damage {
	d := Damage{Name: name, File: file, Offset: -1, Reason: reason}
	var at interface {
		error
		Pos() (file string, offset int64)
	}
	if errors.As(err, &at) {
		found, offset := at.Pos()
		d.File, d.Offset = cmp.Or(found, file), max(offset, -1)
	}
	return d
}

// Unreadable notes that a row has no values because what was recorded cannot be believed.
func (r *Row) Unreadable(reason Reason, file string, err error) {
	r.Add(reason)
	d := DamageOf(cmp.Or(r.Tensor(), r.Op), file, reason, err)
	r.Damage = &d
}

// Damaged is what of a row cannot be believed, nil if there is nothing. Tables that do not
// say where it was found out name the file alone.
func (r *Row) Damaged() *Damage {
	if r.Damage != nil {
		return r.Damage
	}
	if r.Compared || r.Class() != Unreadable {
		return nil
	}
	d := &Damage{Name: cmp.Or(r.Tensor(), r.Op), File: cmp.Or(r.Left.File, r.Right.File), Offset: -1}
	for _, reason := range r.Reasons {
		if reason.Kind.Class() == Unreadable {
			d.Reason = reason
			break
		}
	}
	return d
}

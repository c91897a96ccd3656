//go:build qemu

package layout

import (
	"testing"

	"precision/testdata/workshop/qemu"
)

func TestARM64(t *testing.T) { qemu.Test(t, "TestTranspose|TestRecorded|TestReaderReadsOnce") }

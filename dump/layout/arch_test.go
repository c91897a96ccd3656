//go:build qemu

package layout

import (
	"testing"

	"precision/internal/qemu"
)

func TestARM64(t *testing.T) { qemu.Test(t, "TestTranspose|TestRecorded|TestReaderReadsOnce") }

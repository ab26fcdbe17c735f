package controlplane

import "testing"

// What a port's lock is, whoever asks for it: another process, or a second file of this one.
func TestLockedPortIsAnothers(t *testing.T) {
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockPort(ports[0]); err == nil {
		t.Fatalf("port %d was chosen, and is locked twice", ports[0])
	}
}

func TestPortsAreNeverChosenTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		ports, err := freePorts(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if seen[port] || port < firstPort || port > lastPort {
				t.Fatalf("port %d, after %d others", port, len(seen))
			}
			seen[port] = true
		}
	}
}

package controlplane

import "testing"

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

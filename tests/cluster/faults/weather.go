package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// Weather is what the proxy does to requests and connections.
type Weather struct {
	// Rate of calls and of handshakes that meet a fault, 0 to 1.
	Rate float64
	// WatchRate is the rate of watches that meet one. Others are ended, as servers do, after WatchLife (0: never).
	WatchRate float64
	WatchLife time.Duration
	// MostInARow is how many watches of the same objects may meet a fault one after the other; the next one goes well. 0: any number.
	MostInARow int
	// Kinds that come, equally often.
	Kinds []Kind
}

// Storm is weather in which everything that passes meets the same.
func Storm(kind Kind) Weather {
	return Weather{Rate: 1, WatchRate: 1, WatchLife: time.Second, Kinds: []Kind{kind}}
}

// Calm is no weather.
func Calm() Weather { return Weather{} }

// barometer deals the faults of the weather that is, and counts those that came to be.
type barometer struct {
	mu      sync.Mutex
	random  *rand.Rand
	weather Weather
	// The one sort of redirect in this weather: another one would be another cause.
	redirection int
	decks       [classes][]Kind // what is left to deal
	row         map[string]int  // how many watches of some objects have met a fault since one that went well
	counts      [kinds]map[string]int
}

func newBarometer(seed uint64) *barometer {
	b := &barometer{random: rand.New(rand.NewPCG(seed, 0)), row: map[string]int{}}
	for k := range b.counts {
		b.counts[k] = map[string]int{}
	}
	return b
}

func (b *barometer) set(w Weather) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weather = w
	b.decks = [classes][]Kind{}
	b.redirection = redirects[b.random.IntN(len(redirects))]
}

// draw decides what befalls the next of a class, which asks for some objects. Faults that are kept from happening (the client went away first)
// count for nothing.
func (b *barometer) draw(c class, objects string) (Kind, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.befallen(c, objects) {
		return 0, false
	}
	if len(b.decks[c]) == 0 {
		b.decks[c] = b.shuffled(c)
	}
	deck := b.decks[c]
	if len(deck) == 0 {
		return 0, false
	}
	b.decks[c] = deck[1:]
	return deck[0], true
}

// befallen tells whether the next of a class meets anything. It is locked.
func (b *barometer) befallen(c class, objects string) bool {
	if c != watches {
		return b.chance(b.weather.Rate)
	}
	full := b.weather.MostInARow > 0 && b.row[objects] >= b.weather.MostInARow
	if full || !b.chance(b.weather.WatchRate) {
		b.row[objects] = 0
		return false
	}
	b.row[objects]++
	return true
}

func (b *barometer) chance(rate float64) bool { return rate > 0 && b.random.Float64() < rate }

func (b *barometer) shuffled(c class) (deck []Kind) {
	for _, k := range b.weather.Kinds {
		if k.befalls(c) {
			deck = append(deck, k)
		}
	}
	b.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// number returns one of 0 to n-1.
func (b *barometer) number(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.random.IntN(n)
}

// between returns a time in [least, most).
func (b *barometer) between(least, most time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return least + time.Duration(b.random.Int64N(int64(most-least)))
}

func (b *barometer) redirect() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.redirection
}

func (b *barometer) watchLife() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.weather.WatchLife
}

func (b *barometer) count(k Kind, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[k][what]++
}

func (b *barometer) met(k Kind) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.counts[k])
}

// Counts is how many faults of each kind have happened.
type Counts [kinds]int

// Total of all kinds.
func (c Counts) Total() (total int) {
	for _, n := range c {
		total += n
	}
	return total
}

// Missing names the kinds that have not happened.
func (c Counts) Missing() (missing []Kind) {
	for k, n := range c {
		if n == 0 {
			missing = append(missing, Kind(k))
		}
	}
	return missing
}

func (c Counts) String() string {
	var text []string
	for k, n := range c {
		text = append(text, fmt.Sprintf("%v %d", Kind(k), n))
	}
	return fmt.Sprintf("%d faults: %s", c.Total(), strings.Join(text, ", "))
}

func (b *barometer) totals() (totals Counts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, byWhat := range b.counts {
		for _, n := range byWhat {
			totals[k] += n
		}
	}
	return totals
}

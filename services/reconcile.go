package services

import "time"

// change is what a new set of definitions asks for one name.
type change string

const (
	add    change = "add"    // not known yet
	update change = "update" // another definition; a running server keeps running as it was started
	remove change = "remove" // stop it and forget it
)

// reconcile compares the definitions that are known with those that are wanted.
// Names without a difference are not in the answer.
func reconcile(current, wanted map[string]Spec, same func(a, b Spec) bool) map[string]change {
	changes := map[string]change{}
	for name, w := range wanted {
		c, known := current[name]
		switch {
		case !known:
			changes[name] = add
		case !same(c, w):
			changes[name] = update
		}
	}
	for name := range current {
		if _, ok := wanted[name]; !ok {
			changes[name] = remove
		}
	}
	return changes
}

// step is what the goroutine of a server does next.
type step string

const (
	rest    step = "rest"    // wait until something changes
	wait    step = "wait"    // wait until notBefore, or until something changes
	install step = "install" // run the installer
	connect step = "connect" // start it
)

// wish is everything that nextStep decides on.
type wish struct {
	want, wantInstall bool
	usable            bool // the definition is valid
	installed         bool
	notBefore         time.Time
}

// nextStep decides what a server that is neither connected nor busy does next.
func nextStep(w wish, now time.Time) step {
	switch {
	case !w.usable:
		return rest
	case w.wantInstall:
		return install
	case !w.want || !w.installed:
		return rest
	case now.Before(w.notBefore):
		return wait
	}
	return connect
}

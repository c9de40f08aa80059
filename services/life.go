package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// live starts the server, stays with it until it ends, and cleans up.
func (s *service) live(ctx context.Context) {
	actx, template, values, ok := s.begin(ctx, Starting)
	if !ok {
		return
	}
	lost := make(chan error, 1)
	stale := make(chan struct{}, 1)
	template.Protocol = s.rememberedProtocol(template.Protocol)
	s.hinted = template.Protocol != ""
	spec, err := Expand(actx, template, values, s.sup.vars())
	var peer Peer
	if err == nil {
		peer, err = s.open(actx, spec, s.hooks(actx, lost, stale))
	}
	if err == nil {
		s.misled = false
		err = s.watch(actx, peer, lost, stale)
	} else if actx.Err() == nil {
		s.misled = s.hinted
	}
	s.finish(actx, ctx, peer, err)
}

// open connects and lists the tools, all within the handshake time.
func (s *service) open(ctx context.Context, spec Spec, hooks Hooks) (Peer, error) {
	if p, ok := s.sup.config.Connector.(Preparer); ok {
		p.Prepare(ctx)
	}
	began := time.Now()
	limit := spec.handshakeTimeout()
	hctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready within %s", limit))
	defer cancel()
	peer, err := s.sup.config.Connector.Connect(hctx, spec, hooks)
	if err == nil {
		var list []ToolDef
		if list, err = peer.Tools(hctx); err == nil {
			s.opened(spec, peer, list, time.Since(began))
			return peer, nil
		}
		err = fmt.Errorf("listing its tools: %w", err)
	}
	return peer, late(hctx, err)
}

// late is err, which says why ctx ended if it did.
func late(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(err, ctx.Err()):
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

func (s *service) opened(spec Spec, peer Peer, list []ToolDef, took time.Duration) {
	now := s.sup.config.Now()
	kept, notices := admitTools(list, MaxTools)
	s.mu.Lock()
	base, known := s.baseLocked()
	s.mu.Unlock()
	if !known {
		base = kept
	}
	d := compare(base, kept, s.redact)
	s.edit(func() {
		trigger := TriggerStart
		if s.onRequest {
			trigger = TriggerRequest
		}
		s.onRequest = false
		s.foundLocked(d, kept, trigger)
		s.peer, s.tools = peer, kept
		s.state, s.reason = Running, ""
		s.started, s.lastOK, s.lastUse, s.handshake = now, now, time.Now(), took
		s.notices = append(s.notices, notices...)
	})
	s.log(fmt.Sprintf("ready after %d ms with %d tools", took.Milliseconds(), len(kept)))
	for _, n := range notices {
		s.log(n)
	}
	s.sup.notes.mark(s, noteTools)
	err := s.sup.remember(s, func(v *Saved) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.info.Protocol != "" {
			v.Protocol = s.info.Protocol
		}
		v.Launch = launchHash(s.spec)
	})
	if err != nil {
		text := s.shown("it runs, but how it was started is not kept for the next time: "+err.Error(), 500)
		s.edit(func() { s.notices = append(s.notices, text) })
		s.log(text)
	}
}

// finish ends the connection and decides what state comes after it.
func (s *service) finish(actx, ctx context.Context, peer Peer, cause error) {
	var wanted bool // ended on purpose
	ran, idle := peer != nil, errors.Is(cause, errIdle)
	s.edit(func() {
		s.peer = nil
		wanted = actx.Err() != nil || idle
		switch {
		case wanted:
			s.state, s.reason = Stopping, ""
		case ran:
			s.state, s.reason = s.endingLocked(cause)
		}
	})
	s.cancel(cause)
	if ran && !wanted {
		s.lose()
	}
	closeErr := closePeer(ctx, peer, wanted)
	var text string
	s.edit(func() {
		hadTools := len(s.tools) > 0
		s.active, s.closeErr = false, closeErr
		s.tools, s.info.Pid, s.started, s.latency = nil, 0, time.Time{}, 0
		s.launched = ""
		if hadTools {
			defer s.sup.notes.mark(s, noteTools)
		}
		switch {
		case wanted && s.wantedLocked() && ctx.Err() == nil:
			s.state, s.reason = Starting, restarting
		case wanted, !s.wantedLocked(): // by itself, but nobody wants it back
			s.settleLocked()
			text = "stopped"
			if s.rested {
				text = "stopped: nobody used it"
			}
		default:
			text = s.failLocked(cause)
		}
		if closeErr != nil {
			s.notices = append(s.notices, s.redact(closeErr.Error()))
		}
	})
	if text != "" {
		s.log(text)
	}
	if closeErr != nil {
		s.log(closeErr.Error())
	}
}

// endingLocked is what a server is that ended by itself, while what is left of
// it is cleaned up.
func (s *service) endingLocked(cause error) (State, string) {
	ended := "it has just ended: " + s.redact(cause.Error())
	_, _, giveUp := s.sup.config.Backoff.next(slices.Clone(s.crashes), time.Now())
	switch {
	case !s.wantedLocked():
		return Stopping, ended
	case restartable(cause) && !giveUp:
		return Starting, ended + "; it will be started again"
	}
	return Failed, ended
}

// closePeer ends a connection within the time that its end deserves. The error
// names what could not be ended.
func closePeer(ctx context.Context, peer Peer, wanted bool) error {
	if peer == nil {
		return nil
	}
	t := stopTime
	switch {
	case ctx.Err() != nil:
		t = quitTime
	case !wanted:
		t = failedTime
	}
	cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t)
	defer cancel()
	return peer.Close(cctx)
}

// failLocked says what comes after a failure, now and as a line of the log.
func (s *service) failLocked(cause error) (text string) {
	backoff, why := s.sup.config.Backoff, s.redact(cause.Error())
	if !restartable(cause) {
		s.state, s.reason = Failed, why
		s.notBefore = time.Now().Add(backoff.Reprobe)
		return "failed: " + cause.Error()
	}
	var pause time.Duration
	var giveUp bool
	s.crashes, pause, giveUp = backoff.next(s.crashes, time.Now())
	s.notBefore = time.Now().Add(pause)
	if giveUp {
		s.state = Failed
		verb := "started"
		if s.spec.remote() {
			verb = "tried"
		}
		s.reason = fmt.Sprintf("%s. It was %s %d times within %s; the next try is in %s", why, verb, len(s.crashes), backoff.Window, pause)
	} else {
		s.state = Starting
		s.reason = fmt.Sprintf("%s. Trying again in %s", why, pause)
	}
	return s.reason
}

// install runs the installer as a step of its own.
func (s *service) install(ctx context.Context) {
	actx, spec, _, ok := s.begin(ctx, Installing)
	if !ok {
		return
	}
	err := s.sup.config.Installer.Install(actx, spec, func(text string) {
		s.edit(func() { s.reason = s.shown(text, 300) })
		s.addLog("companion", text)
	})
	stopped := actx.Err() != nil
	s.cancel(nil)
	s.edit(func() {
		s.active, s.wantInstall = false, false
		s.installed = s.sup.isInstalled(spec)
		switch {
		case s.installed:
			s.state, s.reason = Stopped, ""
		case stopped:
			s.state, s.reason = NotInstalled, "the installation was stopped; it goes on where it was when you install again"
		case err != nil:
			s.state, s.reason = Failed, s.redact("installing: "+err.Error())
		default:
			s.state, s.reason = NotInstalled, ""
		}
		if !s.installed {
			s.want = false
		}
	})
	if err != nil && !stopped {
		s.log("installing failed: " + err.Error())
	}
}

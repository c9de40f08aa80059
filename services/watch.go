package services

import (
	"context"
	"fmt"
	"time"
)

// watch stays with a running server: probes it, reads its tools again when they
// change, ends it when nobody uses it, and returns why it is over.
func (s *service) watch(ctx context.Context, peer Peer, lost <-chan error, stale <-chan struct{}) error {
	probe, idle := time.NewTicker(time.Hour), time.NewTimer(0)
	defer probe.Stop()
	defer idle.Stop()
	var every time.Duration
	// Both times follow the definition while the server runs.
	follow := func() {
		s.mu.Lock()
		now := s.spec.probe()
		s.mu.Unlock()
		if now != every {
			if every = now; now > 0 {
				probe.Reset(now)
			} else {
				probe.Stop()
			}
		}
		idle.Reset(0) // asks rest for the right time
	}
	follow()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-lost:
			return err
		case <-s.kick:
			follow()
		case <-idle.C:
			rests, again := s.rest()
			if rests {
				return errIdle
			}
			if again > 0 {
				idle.Reset(again)
			}
		case <-stale:
			if !sleep(ctx, 100*time.Millisecond) {
				continue
			}
			// Those that came meanwhile are answered by this one reading.
			select {
			case <-stale:
			default:
			}
			_ = s.reread(ctx, peer, TriggerChanged) // it is in the log
		case reply := <-s.orders:
			reply <- s.reread(ctx, peer, TriggerRequest)
		case <-probe.C:
			s.probe(ctx, peer)
		}
	}
}

func (s *service) reread(life context.Context, peer Peer, trigger string) error {
	ctx, cancel := context.WithTimeout(life, DefaultHandshakeTimeout)
	defer cancel()
	list, err := peer.Tools(ctx)
	if err != nil {
		if life.Err() == nil {
			s.log("reading its tools again failed: " + err.Error())
			s.feed(func(b breaker, now time.Time) breaker { return b.settle(unreachable, false, now) })
		}
		return err
	}
	kept, notices := admitTools(list, MaxTools)
	s.mu.Lock()
	base := s.tools
	s.mu.Unlock()
	d := compare(base, kept, s.redact)
	s.edit(func() {
		s.foundLocked(d, kept, trigger)
		s.tools, s.lastOK = kept, s.sup.config.Now()
		s.breaker = s.breaker.settle(alive, false, time.Now())
		if !d.same() {
			s.notices = notices
		}
	})
	if d.same() {
		return nil
	}
	s.log(fmt.Sprintf("its tools changed: %d now, %d new, %d gone, %d different", len(kept), len(d.Added), len(d.Removed), len(d.Changed)))
	s.sup.notes.mark(s, noteTools)
	return nil
}

const probeTimeout = 10 * time.Second

func (s *service) probe(life context.Context, peer Peer) {
	ctx, cancel := context.WithTimeout(life, probeTimeout)
	defer cancel()
	began := time.Now()
	err := peer.Ping(ctx)
	took := time.Since(began)
	if life.Err() != nil {
		return
	}
	s.edit(func() {
		if err == nil {
			s.lastOK, s.latency, s.reason = s.sup.config.Now(), took, ""
		} else if s.state == Running {
			s.reason = s.redact("it does not answer a ping: " + err.Error())
		}
		o := alive
		if err != nil {
			o = unreachable
		}
		s.breaker = s.breaker.settle(o, false, time.Now())
	})
}

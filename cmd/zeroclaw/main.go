// Command zeroclaw is the companion: a chat page in the browser whose model
// gets hands on this machine, each call through one gate.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first signal ends the companion in order; with the handler gone, a
	// second one kills it at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	os.Exit(execute(ctx, system()))
}

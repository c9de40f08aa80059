// Package guard owns the one middleware that stands around every route of the
// local server: which Host, Origin, method, size, token, content type and JSON
// a request must have before a handler sees it.
//
// The server listens on 127.0.0.1, where every web page and every program of
// the machine can reach it, so nothing is trusted for coming from loopback.
// The checks run in a fixed order (Host, Origin and Sec-Fetch, method, limits,
// token, content type, strict JSON), and nothing of a body is read before the
// token is right. A route that does not declare its auth class and its body
// class cannot be registered.
package guard

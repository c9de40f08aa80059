// Passes requests on with a bearer token, which the conformance suite cannot
// send: node bearer.mjs TARGET TOKEN prints the port that it listens on.
import http from "node:http";

const [target, token] = process.argv.slice(2);
const to = new URL(target);

const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const own = `:${server.address().port}`;
  // A foreign Host or Origin goes through as it is: refusing it is judged too.
  for (const name of ["host", "origin"]) {
    const value = headers[name];
    if (value && /^(https?:\/\/)?(localhost|127\.0\.0\.1)/.test(value)) headers[name] = value.replace(own, `:${to.port}`);
  }
  const path = to.pathname + to.search;
  const onward = http.request({ host: to.hostname, port: to.port, method: request.method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

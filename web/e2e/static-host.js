// A plain static host of the page on an origin of its own, as any host on the internet would be.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const site = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../static');
/** @type {Record<string, string>} */
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };
/** @type {import('node:http').Server[]} */
const servers = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on a free loopback port, or on `port`, closed when the file's tests are over. @param {import('node:http').RequestListener} handle @param {number} [port] @returns {Promise<string>} its origin */
export async function serve(handle, port = 0) {
  const server = createServer(handle);
  servers.push(server);
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
}

/** Serves the page below a path. @param {string} [prefix] @returns {Promise<string>} its origin */
export function hostPage(prefix = '/') {
  return serve((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const name = pathname.startsWith(prefix) ? pathname.slice(prefix.length) || 'index.html' : '';
    const file = path.join(site, name);
    if (!name || !file.startsWith(site) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': types[path.extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
}

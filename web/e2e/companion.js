// The real binary, each one with a HOME and a folder of its own, ended by its process id.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATIENCE } from './wait.js';

const repo = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** The program under test: ZEROCLAW, else built once for this run. @returns {string} */
export function binary() {
  if (process.env.ZEROCLAW) return process.env.ZEROCLAW;
  const dir = path.join(tmpdir(), `zeroclaw-e2e-${process.getuid?.() ?? 0}-${process.ppid}`);
  const file = path.join(dir, process.platform === 'win32' ? 'zeroclaw.exe' : 'zeroclaw');
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    execFileSync('go', ['build', '-o', file, './cmd/zeroclaw'], { cwd: repo, stdio: ['ignore', 'inherit', 'inherit'] });
  }
  return file;
}

/** A temporary folder that is removed when the file's tests are over. @param {string} name */
export function tempDir(name) {
  const dir = mkdtempSync(path.join(tmpdir(), `zc-e2e-${name}-`));
  temps.push(dir);
  return dir;
}
/** @type {string[]} */
const temps = [];

/** Removes what tempDir made. */
export function removeTemps() {
  for (const dir of temps) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}

/** @param {Record<string, string|Buffer>} files @param {string} root */
export function layOut(files, root) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/**
 * One running companion.
 * @typedef {object} Options
 * @property {Record<string, string|Buffer>} [files] laid out in its folder
 * @property {Record<string, string|Buffer>} [home] laid out in its HOME
 * @property {string} [config] text of config.toml
 * @property {string[]} [rules] permission rules, written to the configuration
 * @property {string[]} [args] more flags
 * @property {Record<string, string>} [env]
 */
export class Companion {
  /** @param {Options} [options] */
  static async start(options = {}) {
    const one = new Companion();
    one.home = tempDir('home');
    one.root = path.join(one.home, 'project');
    mkdirSync(one.root);
    one.options = options;
    layOut(options.files ?? { 'README.md': '# Hello\n\nThis is the readme.\n' }, one.root);
    layOut(options.home ?? {}, one.home);
    const rules = options.rules ? `[permissions]\ndirectories = ${JSON.stringify(options.rules)}\n` : '';
    if (options.config || rules) layOut({ '.zeroclaw/config.toml': (options.config ?? '') + rules }, one.home);
    await one.run();
    return one;
  }

  /** @param {{port?: number}} [more] */
  async run({ port } = {}) {
    const { options } = this;
    const args = ['--root', this.root, '--port', String(port ?? 0), '--no-browser', ...(options.args ?? [])];
    this.child = spawn(binary(), args, {
      cwd: this.root, stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: this.home, USERPROFILE: this.home, TMPDIR: process.env.TMPDIR ?? '/tmp', ...(process.env.ZEROCLAW_WEB_DIR ? { ZEROCLAW_WEB_DIR: process.env.ZEROCLAW_WEB_DIR } : {}), ...options.env },
    });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.stderr = '';
    this.launch = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no launch address within ${PATIENCE} ms: ${this.stderr}`)), PATIENCE);
      this.child.stderr.on('data', (data) => {
        this.stderr += data;
        const found = /(https?:\/\/\S+#code=\S+)/.exec(this.stderr);
        if (found) {
          clearTimeout(timer);
          resolve(found[1]);
        }
      });
      this.child.once('exit', (code) => reject(new Error(`the companion ended with ${code}: ${this.stderr}`)));
    });
    this.pid = this.child.pid;
    const instance = JSON.parse(readFileSync(path.join(this.home, '.zeroclaw/run/server.json'), 'utf8'));
    this.port = instance.port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.token = instance.token;
  }

  /** The API, as the command line of the same user. @param {string} method @param {string} where @param {any} [body] @param {Record<string, string>} [headers] @returns {Promise<any>} */
  async api(method, where, body, headers = {}) {
    const answer = await fetch(this.url + where, {
      method, headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A fresh one-use address of the page. @returns {Promise<string>} */
  async address() {
    return (await this.api('POST', '/api/launch', { printed: true })).url;
  }

  /** Adds a provider. @param {string} name @param {{kind: string, base_url: string, model: string, api_key?: string}} values */
  async provider(name, values) {
    await this.api('POST', `/api/config/map-key?path=providers&key=${name}`, {});
    for (const [key, value] of Object.entries(values)) {
      const { version } = await this.api('GET', `/api/config/list?prefix=providers.${name}`);
      await this.api('PUT', `/api/config/prop?path=providers.${name}.${key}`, { value, version });
    }
  }

  /** Stores a conversation. @param {string} title @param {{role: string, data: any}[]} messages @returns {Promise<string>} its route */
  async conversation(title, messages) {
    const made = await this.api('POST', '/api/conversations', { title });
    const { id } = made.conversation ?? made;
    let { version } = await this.api('GET', `/api/conversations/${id}`);
    let after = 0;
    for (let at = 0; at < messages.length; at += 500) {
      const page = messages.slice(at, at + 500).map((message, n) => ({ id: `m${at + n}`, ...message }));
      const saved = await this.api('POST', `/api/conversations/${id}/messages`, { version: version ?? 0, after, messages: page });
      version = saved.version;
      after = saved.seq.at(-1);
    }
    return `chat/${id}`;
  }

  /** Writes a file into the folder. @param {string} name @param {string} text */
  write(name, text) {
    layOut({ [name]: text }, this.root);
  }

  /** @param {string} name */
  read(name) {
    return readFileSync(path.join(this.root, name), 'utf8');
  }

  /** @param {NodeJS.Signals} [signal] */
  async end(signal = 'SIGTERM') {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    const late = setTimeout(() => this.child.kill('SIGKILL'), 8_000);
    await this.ended;
    clearTimeout(late);
  }
}

/** Processes whose command line holds a text (Linux). @param {string} text @returns {number[]} */
export function processes(text) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }).map(Number);
}

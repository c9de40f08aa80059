// The cases of testdata/ui.jsonl, and a service whose every text is hostile.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Person, until } from './rig.js';

const here = path.dirname(fileURLToPath(import.meta.url));
/** @type {{id: string, title: string, input: any}[]} */
export const cases = readFileSync(path.join(here, 'testdata/ui.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const byId = new Map(cases.map((one) => [one.id, one]));
export const value = byId.get('U001')?.input.value;
export const files = { 'README.md': 'This is the readme.\n' };

/** A service whose every text is hostile. */
export const hostile = {
  '.zeroclaw/services/hostile/service.json': JSON.stringify({
    schemaVersion: 1, id: 'hostile', displayName: { en: `Hostile ${value}` }, description: { en: `described ${value}` },
    launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] },
    options: [{ id: 'pick', type: 'enum', label: { en: `option ${value}` }, choices: ['a', value] }],
  }),
  '.zeroclaw/services/hostile/server.mjs': readFileSync(path.join(here, 'testdata/hostile-mcp.mjs')),
};

/** Nothing of a text became an element, and nothing ran. @param {Person} me */
export async function clean(me) {
  await me.page.waitForTimeout(150);
  assert.deepEqual(await me.page.evaluate(() => ({
    pwned: /** @type {any} */ (globalThis).__pwned,
    elements: [...document.querySelectorAll('[onerror], [onload], script:not([src]), svg, iframe, object, embed, base, style, form[action], meta[http-equiv=refresh], [style]')].map((one) => one.outerHTML.slice(0, 120)),
  })), { pwned: undefined, elements: [] });
}

/** @param {import('./rig.js').Stage} stage */
export async function startHostile(stage) {
  await stage.companion.api('POST', '/api/services/hostile/start', {});
  await until(async () => (await stage.companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'hostile').state === 'running', 'the service runs');
}

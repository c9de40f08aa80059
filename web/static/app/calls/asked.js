// What a question is about: the act in words, and exactly what would run.
import { html } from '../../vendor/preact.js';
import { shortPath } from '../chat/folders.js';
import { t, tx } from '../i18n/index.js';
import { ownName, serverName } from './names.js';
import { Diff } from './renderers/diff.js';
import { Reach } from './renderers/files.js';
import { Arguments } from './renderers/json.js';
import { Command } from './renderers/shell.js';
import { Visible } from './text.js';

/** @typedef {import('../types.js').Approval} Approval */

/** The act in words. @param {Approval} approval */
export function titleOf(approval) {
  const path = (/** @type {any} */ value) => html`<code><${Visible} text=${shortPath(String(value ?? '.'))} /></code>`;
  const args = approval.arguments ?? {};
  const server = html`<b><${Visible} text=${approval.server ? serverName(approval.server) : approval.tool} /></b>`;
  if (approval.kind !== 'call') return tx(approval.kind === 'elicitation' ? 'ask.elicitation' : 'ask.sampling', { server });
  switch (approval.tool) {
    case 'execute_command': return tx(args.background ? 'ask.background' : 'ask.command', { where: path(approval.command?.cwd ?? args.cwd) });
    case 'read_file': return tx('ask.read', { path: path(args.path) });
    case 'edit_file': return tx(args.mode === 'write' ? 'ask.write' : 'ask.edit', { path: path(args.path) });
    case 'list_directory': return tx('ask.list', { path: path(args.path) });
    case 'search_files': return tx('ask.search', { path: path(args.path) });
  }
  const tool = html`<code><${Visible} text=${ownName(approval.tool, approval.server)} /></code>`;
  return approval.server ? tx('ask.tool_of', { tool, server }) : tx('ask.tool', { tool });
}

/** The arguments that a better view does not show, and the paths that are reached, with their names in one column. @param {{args: Record<string, any>, paths?: Approval['resolved']}} props */
function Rest({ args, paths = [] }) {
  const more = Object.keys(args).length > 0;
  if (!more && !paths.length) return null;
  return html`<div class="reached">${more ? html`<${Arguments} value=${args} />` : null}${paths.length ? html`<${Reach} paths=${paths} />` : null}</div>`;
}

/** Exactly what would run. @param {{approval: Approval}} props */
export function What({ approval }) {
  const args = approval.arguments ?? {};
  const paths = approval.resolved ?? [];
  if (approval.command) {
    const { command, cwd, ...rest } = args;
    const unread = approval.command.class === 'ambiguous' || !paths.length;
    return html`<${Command} text=${approval.command.text} marks=${approval.command.marks} /><${Rest} args=${rest} paths=${paths} />${unread ? html`<p class="why">${t('ask.unread')}</p>` : null}`;
  }
  if (approval.diff) {
    // The difference and the title say what these do.
    const { path, mode, content, old_text, new_text, ...rest } = args;
    return html`<${Diff} text=${approval.diff} whole /><${Rest} args=${rest} paths=${paths} />`;
  }
  return Object.keys(args).length ? html`<${Rest} args=${args} paths=${paths} />` : html`<${Arguments} value=${args} /><${Rest} args=${{}} paths=${paths} />`;
}

// Services in the page: how a state looks, and the lines that a service writes.

/** Sign and dot of a state. @param {string} state @returns {{dot: string, pill: 'ok'|'danger'|''|'ask'}} */
export function stateLook(state) {
  switch (state) {
    case 'running': return { dot: 'ok', pill: 'ok' };
    case 'failed': return { dot: 'no', pill: 'danger' };
    case 'starting':
    case 'stopping':
    case 'installing': return { dot: 'wait', pill: '' };
    default: return { dot: '', pill: '' };
  }
}

/**
 * Joins new log lines to the known ones by their number, keeps the newest.
 * @template {{seq: number}} T @param {T[]} known @param {T[]} fresh @param {number} most @returns {T[]}
 */
export function joinLines(known, fresh, most) {
  const last = known.at(-1)?.seq ?? -1;
  const added = fresh.every((line, at) => line.seq > (at ? fresh[at - 1].seq : last)) ? fresh : null;
  const all = added ? [...known, ...added] : [...new Map([...known, ...fresh].map((line) => [line.seq, line])).values()].sort((a, b) => a.seq - b.seq);
  return all.length > most ? all.slice(-most) : all;
}

/** Whether lines are missing between those known and the fresh ones. @param {{seq: number}[]} known @param {{seq: number}[]} fresh */
export function gapBefore(known, fresh) {
  const last = known.at(-1)?.seq;
  return last !== undefined && fresh.length > 0 && fresh[0].seq > last + 1;
}

// Tries of the cases in which nothing but a person's own act may answer a question.
import assert from 'node:assert/strict';
import { GUARD_MS, until } from './rig.js';

/** What a case is tried with, by its number. @type {Record<string, (stage: import('./rig.js').Stage, one: any) => Promise<void>>} */
export const acts = {
  async U029(stage, one) {
    const me = await stage.page({});
    const commands = [one.input.command, `ls${'\n'.repeat(300)}rm -rf x`, `ls ${'\u00a0'.repeat(300)}; rm -rf x`, 'ls \u202e;x fr- mr\u202c', 'l\u200bs \u2066rm\u2069 \u001b[2K\u001b[1A\r rm -rf x', `echo ${'a'.repeat(5000)} ; rm -rf x`];
    for (const command of commands) {
      await me.say(`/execute_command ${JSON.stringify({ command })}`);
      const question = await me.question();
      const box = question.getByRole('group', { name: 'Command' });
      const seen = await box.evaluate((element) => {
        const { scrollWidth, clientWidth } = element;
        return { text: element.textContent ?? '', wide: scrollWidth > clientWidth + 1, hidden: getComputedStyle(element).overflowY === 'hidden' };
      });
      assert.match(seen.text, /rm -rf x|x fr- mr|rm/, 'the tail is there');
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u001b\r\u00a0]/.test(seen.text), 'control characters are shown as signs');
      assert.ok(!/ {20,}|\n{10,}/.test(seen.text), 'long gaps are shown as signs');
      assert.ok(!seen.wide && !seen.hidden, 'nothing is out of sight to the right');
      // A box that scrolls says so; the end can be brought into view.
      await question.getByText(/\d characters/).waitFor();
      await question.getByRole('button', { name: 'Deny…' }).click();
      await question.getByRole('button', { name: 'Deny', exact: true }).click();
      await me.idle();
    }
  },
  async U030(stage) {
    const me = await stage.page();
    await me.say('/read_file path=README.md');
    await me.composer.pressSequentially('typing 1 2 3\n4\n', { delay: 20 });
    await me.page.keyboard.press('Enter');
    const question = await me.question('README.md');
    await me.page.waitForTimeout(GUARD_MS);
    await me.page.keyboard.press('Enter');
    assert.equal((await stage.companion.api('GET', '/api/approvals')).approvals.length, 1);
    await question.focus();
    await until(async () => /\bask\b/.test((await me.focused()).class), 'the card has the focus');
    await me.page.keyboard.press('Enter');
    assert.equal((await me.focused()).name, 'Deny…');
    assert.equal((await stage.companion.api('GET', '/api/approvals')).approvals.length, 1);
  },
};

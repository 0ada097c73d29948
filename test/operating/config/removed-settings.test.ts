import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';
import { removedSettings } from '../../../src/operating/config/removed-settings.ts';
import { settings } from '../../../src/operating/config/settings-table.ts';

const names = Object.keys(removedSettings);

test('a removed setting stops the start and says what to do instead, also as the name of a file', () => {
  for (const [name, instead] of Object.entries(removedSettings))
    for (const variable of [name, `${name}_FILE`])
      assert.throws(() => readConfig({ [variable]: 'x' }), {
        message: `${variable} was removed; unset it. ${instead}`,
      });
});

test('an empty variable of a removed setting is ignored', () => {
  readConfig(Object.fromEntries(names.map((name) => [name, ' '])));
});

test('the changelog and the page about upgrades name every removed setting', async () => {
  const known = Object.keys(settings);
  for (const path of ['CHANGELOG.md', 'docs/operate/upgrade.md']) {
    const text = await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
    for (const name of names) {
      assert.ok(text.includes(`\`${name}\``), `${path} names ${name}`);
      assert.ok(!known.includes(name), `${name} isn’t a setting`);
    }
  }
});

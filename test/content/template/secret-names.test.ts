import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileVersion } from '../../../src/content/template/compile-version.ts';
import {
  hasSecrets,
  secretNamesOf,
  withSecretNames,
} from '../../../src/content/template/secret-names.ts';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';

/** A version that declares no field secret, in which Token is. */
async function load(html: string, fields: TemplateSource['fields'] = {}) {
  const { compiled, ...problems } = await compileVersion({
    source: {
      subject: 'Hello',
      previewText: '',
      html,
      fields,
    },
  });
  assert.ok(compiled !== null, JSON.stringify(problems));
  return withSecretNames(compiled, ['Token']);
}

const items = { Items: { kind: 'list', fields: { Name: {} } } } as const;
const link = (target: string): string => `<a href="https://shop.test/${target}">x</a>`;

for (const { title, html, fields, secret, tracked } of [
  { title: 'a version that leaves it out', html: link('{{Name}}'), secret: ['Token'], tracked: 1 },
  { title: 'a link with it', html: link('{{Token}}'), secret: ['Token'], tracked: 0 },
  { title: 'a fixed link', html: `{{Token}} ${link('a')}`, secret: ['Token'], tracked: 1 },
  {
    title: 'a field of items from outside',
    html: `{{#Items}}{{Token}} ${link('{{Name}}')}{{/Items}}`,
    fields: items,
    secret: ['Token', 'Items'],
    tracked: 0,
  },
  {
    title: 'a declared field of items, which is another value',
    html: `{{#Items}}{{Token}} ${link('{{Name}}')}{{/Items}}`,
    fields: { Items: { kind: 'list', fields: { Name: {}, Token: {} } } } as const,
    secret: ['Token'],
    tracked: 1,
  },
])
  test(`a name that another version declares secret: ${title}`, async () => {
    const compiled = await load(html, fields);
    assert.deepEqual(secretNamesOf(compiled), secret);
    assert.equal(compiled.links.filter(({ trackable }) => trackable).length, tracked);
    assert.equal(hasSecrets(compiled, { Token: 'x' }), true);
    const used = compiled.fields.some((field) => field.secret);
    assert.equal(hasSecrets(compiled, { Name: 'x' }), used);
  });

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { manifestProblemTexts, parse } from '../../support/manifest-world.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
writeFileSync(join(folder, 'de.html'), '<p>\r\nHallo {{Nmae}}</p>');

function manifestWith(template: object, users: object[] = []): object {
  const own = { id: 't-1', name: 'T', createdBy: 'ann@shop.test', subject: 's', text: '{{Name}}' };
  const templates = [{ ...own, ...template }];
  return { accounts: [{ id: '1', name: 'Shop', users, templates }] };
}

const german = { subject: 'Hallo', html: { file: 'de.html' } };

async function hashOf(template: object): Promise<string> {
  const { accounts } = await parse(manifestWith(template), { folder });
  return accounts[0]?.templates[0]?.contentHash.toString('hex') ?? '';
}

test('a variant is read from its files, with line feeds', async () => {
  const { accounts } = await parse(manifestWith({ locale: 'en', variants: { de: german } }), {
    folder,
  });
  const { source } = accounts[0]?.templates[0] ?? assert.fail();
  assert.equal(source.locale, 'en');
  assert.deepEqual(source.variants, {
    de: { subject: 'Hallo', html: '<p>\nHallo {{Nmae}}</p>' },
  });
});

test('languages are part of the content, in any order, and none leave its hash as it was', async () => {
  const french = { subject: 'Bonjour', text: 't' };
  const plain = await hashOf({});
  assert.equal(await hashOf({ variants: {} }), plain);
  const hashes = [
    plain,
    await hashOf({ locale: 'en' }),
    await hashOf({ variants: { de: german } }),
    await hashOf({ variants: { at: german } }),
    await hashOf({ variants: { de: french } }),
    await hashOf({ variants: { de: german, fr: french } }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(await hashOf({ variants: { fr: french, de: german } }), hashes.at(-1));
});

test('a problem of a variant is reported at its part, with its file', async () => {
  const users = [{ email: 'nobody', role: 'owner' }];
  const broken = manifestWith({ variants: { de: german } }, users);
  const texts = await manifestProblemTexts(parse(broken, { folder }));
  assert.deepEqual(texts.slice(1), [
    'accounts[0].templates[0].variants.de.html (de.html) uses the field Nmae, which the default content doesn’t have; declare it under fields',
  ]);
  const missing = manifestWith({ variants: { de: { ...german, html: { file: 'none.html' } } } });
  const [text] = await manifestProblemTexts(parse(missing, { folder }));
  assert.match(text ?? '', /^accounts\[0\]\.templates\[0\]\.variants\.de\.html none\.html /);
});

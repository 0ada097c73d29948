import assert from 'node:assert/strict';
import { glob, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { auditTexts } from '../../console/src/texts/en/audit.en.ts';
import { destinationsTexts } from '../../console/src/texts/en/destinations.en.ts';
import { domainsTexts } from '../../console/src/texts/en/domains.en.ts';
import { editorTexts } from '../../console/src/texts/en/editor.en.ts';
import { inboxTexts } from '../../console/src/texts/en/inbox.en.ts';
import { integrationsTexts } from '../../console/src/texts/en/integrations.en.ts';
import { outboxesTexts } from '../../console/src/texts/en/outboxes.en.ts';
import { processesTexts } from '../../console/src/texts/en/processes.en.ts';
import { repliesTexts } from '../../console/src/texts/en/replies.en.ts';
import { requestTexts } from '../../console/src/texts/en/requests.en.ts';
import { settingsTexts } from '../../console/src/texts/en/settings.en.ts';
import { smtpTexts } from '../../console/src/texts/en/smtp.en.ts';
import { webhooksTexts } from '../../console/src/texts/en/webhooks.en.ts';
import { en } from '../../console/src/texts/en.ts';

const folder = join(import.meta.dirname, '../../console/src/texts/en');

test('every text of a file is in the catalog, and no two files use the same name', async () => {
  const names: string[] = [];
  for (const file of await readdir(folder)) {
    const texts: Record<string, Record<string, string>> = await import(join(folder, file));
    for (const part of Object.values(texts)) names.push(...Object.keys(part));
  }
  const catalog = {
    ...en,
    ...auditTexts,
    ...destinationsTexts,
    ...domainsTexts,
    ...editorTexts,
    ...inboxTexts,
    ...integrationsTexts,
    ...outboxesTexts,
    ...processesTexts,
    ...repliesTexts,
    ...requestTexts,
    ...settingsTexts,
    ...smtpTexts,
    ...webhooksTexts,
  };
  assert.deepEqual(names.toSorted(), Object.keys(catalog).toSorted());
});

test('whatever page shows a text of an area loads the texts of the area', async () => {
  const root = join(import.meta.dirname, '../../console/src');
  const sources = new Map<string, string>();
  for await (const file of glob('**/*.{ts,tsx}', { cwd: root }))
    sources.set(join(root, file), await readFile(join(root, file), 'utf8'));
  const importPattern = /^(?:import|export) (?!type )[^;]*?'(\.[^']+)';/gm;
  const imports = new Map(
    [...sources].map(([file, code]) => [
      file,
      [...code.matchAll(importPattern)].map(([, path = '']) => join(dirname(file), path)),
    ]),
  );
  const reach = (file: string, seen = new Set<string>()): Set<string> => {
    seen.add(file);
    for (const next of imports.get(file) ?? []) if (!seen.has(next)) reach(next, seen);
    return seen;
  };
  const areas: { file: string; names: Set<string> }[] = [];
  for (const [file, code] of sources) {
    const texts = imports.get(file)?.find((path) => path.includes('/texts/en/'));
    if (!/^addTexts\(/m.test(code) || texts === undefined) continue;
    const [part] = Object.values<object>(await import(texts));
    areas.push({ file, names: new Set(Object.keys(part ?? {})) });
  }
  assert.ok(areas.length > 5);
  /** A way to load the file without the texts. */
  const wayWithout = (file: string, texts: string, seen: Set<string>): string[] | undefined => {
    if (seen.has(file) || reach(file).has(texts)) return undefined;
    seen.add(file);
    const importing = [...imports].filter(([, paths]) => paths.includes(file));
    if (importing.length === 0) return [file];
    for (const [next] of importing) {
      const way = wayWithout(next, texts, seen);
      if (way !== undefined) return [file, ...way];
    }
    return undefined;
  };
  for (const [file, code] of sources) {
    if (file.includes('/texts/')) continue;
    const used = [...code.matchAll(/'([\w-]+\.[\w.-]+)'/g)].map(([, name = '']) => name);
    for (const { file: texts, names } of areas)
      if (used.some((name) => names.has(name)))
        assert.deepEqual(wayWithout(file, texts, new Set()) ?? [], [], texts);
  }
});

test('every recorded event has a sentence in the audit log', async () => {
  const source = join(import.meta.dirname, '../../src');
  const texts: Readonly<Record<string, string>> = auditTexts;
  const missing = new Set<string>();
  for (const entry of await readdir(source, { recursive: true })) {
    if (!entry.endsWith('.ts')) continue;
    const code = await readFile(join(source, entry), 'utf8');
    // Where an event is recorded: with its kind, or with the kind of a resource that is created, changed and removed.
    const recorded = [
      ...code.matchAll(/record(?:Audit|Change)\([^;]*?'([a-z]+_[a-z_]+)'/g),
      ...code.matchAll(/audit\.record\(\{\s*kind: '([a-z_]+)'/g),
    ];
    for (const [, kind = ''] of recorded) {
      const [, thing = ''] = /^(.+)_(?:created|changed|removed)$/.exec(kind) ?? [];
      if (texts[`audit.did.${kind}`] === undefined && texts[`audit.what.${thing}`] === undefined)
        missing.add(kind);
    }
  }
  assert.deepEqual([...missing], []);
});

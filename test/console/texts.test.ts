import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditTexts } from '../../console/src/texts/en/audit.en.ts';
import { destinationsTexts } from '../../console/src/texts/en/destinations.en.ts';
import { domainsTexts } from '../../console/src/texts/en/domains.en.ts';
import { editorTexts } from '../../console/src/texts/en/editor.en.ts';
import { integrationsTexts } from '../../console/src/texts/en/integrations.en.ts';
import { processesTexts } from '../../console/src/texts/en/processes.en.ts';
import { repliesTexts } from '../../console/src/texts/en/replies.en.ts';
import { settingsTexts } from '../../console/src/texts/en/settings.en.ts';
import { smtpTexts } from '../../console/src/texts/en/smtp.en.ts';
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
    ...integrationsTexts,
    ...processesTexts,
    ...repliesTexts,
    ...settingsTexts,
    ...smtpTexts,
  };
  assert.deepEqual(names.toSorted(), Object.keys(catalog).toSorted());
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

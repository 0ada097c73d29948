import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse as parseYaml } from 'yaml';
import { ManifestSchema } from '../../../src/operating/manifest/manifest-schema.ts';

const root = join(import.meta.dirname, '../../..');
const published = JSON.parse(readFileSync(join(root, 'docs/manifest.schema.json'), 'utf8'));

test('the published schema is the one used for validation', () => {
  assert.deepEqual(published, JSON.parse(JSON.stringify(ManifestSchema)));
});

test('the demo manifest is valid against the published schema', () => {
  const ajv = new Ajv({ allErrors: true, strict: false });
  const check = ajv.compile(published);
  const demo: unknown = parseYaml(readFileSync(join(root, 'demo/manifest.yaml'), 'utf8'));
  check(demo);
  assert.equal(check.errors, null);
});

test('the demo manifest uses every member of the format', () => {
  const text = readFileSync(join(root, 'demo/manifest.yaml'), 'utf8');
  const names = new Set<string>();
  const visit = (schema: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties')
        for (const member of Object.keys(value as object)) names.add(member);
      if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>);
    }
  };
  visit(published);
  const missing = [...names].filter(
    (name) =>
      !new RegExp(`\\b${name}: `).test(text.replaceAll(':\n', ': \n')) && name !== '$schema',
  );
  assert.deepEqual(missing, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompiledTemplate } from '../../../src/content/template/compiled-template.ts';
import {
  parseOverride,
  type TemplateOverride,
} from '../../../src/content/template/parse-override.ts';
import { missingFields } from '../../../src/content/template/template-fields.ts';
import { loadSource } from '../../support/render-template.ts';

async function template(): Promise<CompiledTemplate> {
  const { compiled } = await loadSource({
    subject: '{{In Subject}} {{Everywhere}} {{Defaulted}}',
    previewText: '{{In Preview}}',
    html: '<p title="{{In Attribute}}">{{#Section}}{{Inside}}{{/Section}}{{Everywhere}}',
    text: '{{In Text}}',
    fields: { Defaulted: { default: '' } },
  });
  return compiled;
}

function override(text: string): TemplateOverride {
  const parsed = parseOverride(text);
  assert.ok(parsed.ok);
  return parsed.override;
}

test('4.3 rule 3: every field without a default needs a value, including those inside sections', async () => {
  const names = [
    'In Attribute',
    'Section',
    'Inside',
    'Everywhere',
    'In Text',
    'In Subject',
    'In Preview',
  ];
  assert.deepEqual(missingFields(await template(), {}).sort(), names.sort());
});

test('4.3 rule 3: an empty string is a value, and unused keys are allowed', async () => {
  const compiled = await template();
  const values = Object.fromEntries(missingFields(compiled, {}).map((name) => [name, '']));
  assert.deepEqual(missingFields(compiled, { ...values, Unused: 'x' }), []);
  delete values.Inside;
  assert.deepEqual(missingFields(compiled, values), ['Inside']);
});

test("an overridden subject line or preview text contributes its own fields instead of the template's", async () => {
  const compiled = await template();
  const plain = missingFields(compiled, {}, { subjectLine: override('Plain') });
  assert.ok(!plain.includes('In Subject') && plain.includes('Everywhere'));
  const own = missingFields(
    compiled,
    {},
    {
      subjectLine: override('{{New}} {{Defaulted}}'),
      previewText: override('{{#Other}}x{{/Other}}'),
    },
  );
  assert.ok(own.includes('New') && own.includes('Other'));
  assert.ok(!own.includes('Defaulted') && !own.includes('In Preview'));
});

test('only own keys count as values', async () => {
  const { compiled } = await loadSource({
    subject: 's',
    html: '{{constructor}} {{__proto__}} {{toString}}',
  });
  assert.deepEqual(missingFields(compiled, {}), ['constructor', '__proto__', 'toString']);
  assert.deepEqual(
    missingFields(compiled, JSON.parse('{"__proto__":"","constructor":"","toString":""}')),
    [],
  );
});

test('malformed markup in an override is reported with a readable error', () => {
  for (const text of ['{{', '{{#A}}', '{{>x}}', '{{}}']) {
    const parsed = parseOverride(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.reason, /^has malformed personalization: /);
  }
  assert.deepEqual(override('}} {x}').fields, []);
});

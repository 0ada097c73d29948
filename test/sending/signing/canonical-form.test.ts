import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaxField } from '../../../src/sending/signing/canonical-form.ts';

/** A field as bytes, one character each. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

for (const [raw, expected] of [
  ['Subject:  Two  words\t', 'subject:Two words'],
  ['Subject : a\r\n\tb ', 'subject:a b'],
  ['Subject:', 'subject:'],
  // The last byte of these characters is A0, which isn't white space in mail.
  ['Subject: Voilà', 'subject:Voilà'],
  ['Subject: Р ', 'subject:Р'],
  ['Subject: 加', 'subject:加'],
  ['Subject:\u000b x\u000c', 'subject:\u000b x\u000c'],
] as const)
  test(`RFC 6376 3.4.2: the relaxed form of ${JSON.stringify(raw)} loses spaces and tabs only`, () => {
    assert.equal(relaxField(bytes(raw)), bytes(expected));
  });

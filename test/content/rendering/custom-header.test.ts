import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeWords } from '../../../src/base/mime/decode.ts';
import { customHeader } from '../../../src/content/rendering/custom-header.ts';
import { CustomHeaderRules } from '../../../src/sending/submission/custom-headers.ts';
import { hostileText } from '../../support/hostile-text.ts';

const rules = new CustomHeaderRules();
const name = fc
  .string({ unit: fc.constantFrom('a', 'B', '-', '_', '.', '7'), minLength: 1, maxLength: 74 })
  .map((text) => `X-${text}`);

test('any accepted header is 7-bit, has valid lines, and reads as sent', () => {
  let accepted = 0;
  const value = fc.oneof(hostileText(), hostileText(40), fc.string({ maxLength: 998 }));
  fc.assert(
    fc.property(name, value, (field, text) => {
      const read = rules.read({ [field]: text }, []);
      const problems: { field: string; reason: string }[] = [];
      rules.read({ [field]: text }, problems);
      if (problems.length > 0 || read === undefined) return;
      accepted += 1;
      const header = customHeader(field, read[field] ?? '');
      assert.match(header, /^[ -~\r\n]+$/);
      for (const [index, line] of header.split('\r\n').entries()) {
        assert.ok(line.length <= 998);
        assert.match(line, /\S/);
        if (index > 0) assert.match(line, /^ /);
        if (line.includes('=?')) assert.ok(line.length <= 78, line);
      }
      const unfolded = header.replace(/\r\n(?= )/g, '').slice(field.length + 1);
      assert.equal(decodeWords(unfolded.replace(/^ +/, '')), read[field]);
    }),
    { numRuns: 300 },
  );
  assert.ok(accepted > 0);
});

test('other headers are only folded, since programs read them as they are', () => {
  assert.equal(customHeader('In-Reply-To', '<a@b.test>'), 'In-Reply-To: <a@b.test>');
  assert.equal(customHeader('List-ID', '=?utf-8?Q?x?= <a.b>'), 'List-ID: =?utf-8?Q?x?= <a.b>');
  const ids = Array.from({ length: 10 }, (_, n) => `<message-${n}@shop.test>`);
  const folded = customHeader('References', ids.join(' '));
  assert.ok(folded.split('\r\n').every((line) => line.length <= 78));
  assert.equal(folded.replaceAll('\r\n', ''), `References: ${ids.join(' ')}`);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fault } from '../../../src/base/values/errors.ts';
import { SendBodyParser } from '../../../src/sending/submission/parse-send-body.ts';
import { readBodyJson } from '../../../src/sending/submission/read-body-json.ts';
import type { ParsedSendRequest } from '../../../src/sending/submission/send-request.ts';
import { codePoint } from '../../support/code-point.ts';

const parser = new SendBodyParser();

function parse(bytes: Buffer): ParsedSendRequest | Fault {
  try {
    return parser.parse(readBodyJson(bytes, 'application/json'), true);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** Names inherited by every object, and ordinary ones. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'a.b', '0', '\n'),
);
const text = fc.string({
  unit: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('a', '"', '\\', '😀', '\u0301', '\n') },
    { weight: 1, arbitrary: fc.constantFrom('\0', '\ud800', '\udc00') },
  ),
});

function isStorable(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

test('any bytes are either parsed or rejected as VALIDATION_FAILED with details', () => {
  const json = fc.oneof(
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ envelope: value, actions: value })),
    fc.string({ unit: codePoint }),
  );
  const bytes = fc.oneof(
    json.map((value) => Buffer.from(value)),
    fc.uint8Array().map((value) => Buffer.from(value)),
  );
  fc.assert(
    fc.property(bytes, (body) => {
      const parsed = parse(body);
      if (!(parsed instanceof Fault)) return;
      assert.equal(parsed.code, 'VALIDATION_FAILED');
      assert.ok(parsed.details.length > 0);
      for (const detail of parsed.details) {
        assert.ok(isStorable(detail.field + detail.reason));
      }
    }),
  );
});

test('values arrive as sent and are rejected exactly if they can’t be stored', () => {
  const map = fc.dictionary(fc.oneof(name, text), text, { noNullPrototype: true });
  fc.assert(
    fc.property(map, (values) => {
      // A duplicate member or `__proto__` must become an own member like any other.
      const body = {
        envelope: { toAddress: 'a@example.test' },
        content: { personalizationDataMap: values },
        actions: { trackOpens: true, trackClicks: false },
      };
      const parsed = parse(Buffer.from(JSON.stringify(body)));
      const storable = Object.entries(values).every(
        ([key, value]) => isStorable(key) && isStorable(value),
      );
      assert.equal(parsed instanceof Fault, !storable);
      if (parsed instanceof Fault) return;
      assert.deepEqual(Object.entries(parsed.values), Object.entries(values));
      assert.deepEqual(
        JSON.parse(JSON.stringify(parsed.values)),
        JSON.parse(JSON.stringify(values)),
      );
    }),
  );
});

test('an unknown field is rejected by name, at every level', () => {
  fc.assert(
    fc.property(
      name,
      fc.constantFrom('', 'envelope', 'content', 'metadata', 'actions'),
      (extra, group) => {
        const body: Record<string, Record<string, unknown>> = {
          envelope: { toAddress: 'a@example.test' },
          content: {},
          metadata: {},
          actions: { trackOpens: true, trackClicks: true },
        };
        const target = group === '' ? body : body[group];
        if (target === undefined || Object.hasOwn(target, extra) || extra in known) return;
        Object.defineProperty(target, extra, { value: 'x', enumerable: true });
        const parsed = parse(Buffer.from(JSON.stringify(body)));
        assert.ok(parsed instanceof Fault, extra);
        assert.deepEqual(parsed.details, [
          {
            field: group === '' ? extra : `${group}.${extra}`,
            reason: 'is not a field of this request',
          },
        ]);
      },
    ),
  );
});

const known: Record<string, true> = Object.assign(Object.create(null), {
  subjectLine: true,
  previewText: true,
  headers: true,
  attributes: true,
  toDisplayName: true,
  bccAddressList: true,
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyReply } from '../../../src/sending/delivery/classify-reply.ts';
import { formatReply, maxReplyLength, parseReply } from '../../../src/sending/delivery/reply.ts';
import { assertQuick } from '../../support/assert-quick.ts';
import { codePoint } from '../../support/code-point.ts';

interface RealReply {
  /** An email of the set-of-emails collection, an entry of the SMTP Field Manual, or a receiver's own page. */
  readonly source: string;
  readonly reply: string;
  /** Kind, cause, retry schedule, and the requested seconds. */
  readonly meaning: string;
}

const table: RealReply[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'real-replies.json'), 'utf8'),
);

function meaningOf(response: string): string {
  const { code, enhanced, text } = parseReply(response);
  const meaning = classifyReply(code, enhanced, text);
  if (meaning.kind === 'delivered') return 'delivered';
  if (meaning.kind === 'permanent') return `permanent ${meaning.cause}`;
  const parts = [meaning.kind, meaning.cause, meaning.retry, meaning.after];
  return parts.filter((part) => part !== undefined).join(' ');
}

test(`${table.length} real replies of mailbox providers and common servers are classified as a person would`, () => {
  assert.ok(table.length >= 200);
  const wrong = table.filter(({ reply, meaning }) => meaningOf(reply) !== meaning);
  assert.deepEqual(
    wrong.map((row) => ({ ...row, found: meaningOf(row.reply) })),
    [],
  );
});

test('RFC 5321 4.2.1: the first digit decides, regardless of enhanced code and text', () => {
  assert.equal(meaningOf('250 5.1.1 No such user'), 'delivered');
  assert.match(meaningOf('451 5.1.1 No such user'), /^temporary/);
  assert.match(meaningOf('550 4.2.2 Mailbox full'), /^permanent/);
});

test('RFC 5321 4.5.3.1.10: 552 for too many recipients is treated as 452', () => {
  assert.match(meaningOf('552 Too many recipients'), /^temporary/);
});

test('RFC 4954 6: rejected credentials are a configuration error and fail no message', () => {
  assert.equal(
    meaningOf('535 5.7.8 Authentication failed'),
    'temporary our-credentials connection',
  );
});

test('a wait named by the receiver is parsed in seconds, minutes, hours and clock notation', () => {
  const requestedSeconds = (text: string) =>
    meaningOf(`450 4.2.0 Greylisted, ${text}`).split(' ')[3];
  assert.equal(requestedSeconds('try again in 300 seconds'), '300');
  assert.equal(requestedSeconds('please retry in 5 minutes'), '300');
  assert.equal(requestedSeconds('please come back in 00:05:00'), '300');
  assert.equal(requestedSeconds('wait 2h'), '7200');
  assert.equal(requestedSeconds('see http://example.test/1234'), undefined);
});

test('classifying never throws and always returns one of three kinds', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer(), fc.double(), fc.integer({ min: 200, max: 599 })),
      fc.option(fc.string(), { nil: undefined }),
      fc.string({ maxLength: 5_000 }),
      (code, enhanced, text) => {
        const { kind } = classifyReply(code, enhanced, text);
        assert.ok(['delivered', 'temporary', 'permanent'].includes(kind));
        if (code < 200 || code >= 600 || Number.isNaN(code)) assert.equal(kind, 'temporary');
      },
    ),
  );
});

test('parsing a reply never throws; its text is bounded and has no control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 3_000 }), (response) => {
      const reply = parseReply(response);
      assert.ok(reply.text.length <= maxReplyLength);
      assert.doesNotMatch(formatReply(reply), /\p{Cc}/u);
      assert.ok(reply.text.isWellFormed());
    }),
  );
});

test('classifying takes time linear in the length of any text', () => {
  assertQuick(2_000, () => {
    for (const part of ['user ', 'mailbox ', 'a.', 'rejected: ', 'try again in ', 'use me ']) {
      classifyReply(550, undefined, part.repeat(10_000));
      classifyReply(450, undefined, part.repeat(10_000));
    }
  });
});

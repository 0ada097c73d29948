import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewSourceJob } from '../../../src/drop-in/provider/sent-messages.ts';

test('a complete message is read as headers and parts say', () => {
  const source = Buffer.from(
    [
      'To: "Ada, Countess" <ada@people.test>, bob@people.test',
      'Cc: =?utf-8?Q?=C3=88ve?= <eve@people.test>',
      'Message-ID: <1@shop.test>',
      'Content-Type: text/html; charset=utf-8',
      '',
      '<p>Hello</p>',
    ].join('\r\n'),
  );
  assert.deepEqual(viewSourceJob({ source }), {
    to: ['Ada, Countess <ada@people.test>', 'bob@people.test'],
    cc: ['Ève <eve@people.test>'],
    replyTo: [],
    mailId: '<1@shop.test>',
    html: '<p>Hello</p>',
    text: null,
    files: [],
  });
});

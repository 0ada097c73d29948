import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readQueryForm } from '../../../src/drop-in/ses/query-form.ts';
import { codePoint } from '../../support/code-point.ts';

/** What is read, as plain objects. */
async function read(form: string | Buffer): Promise<unknown> {
  return JSON.parse(JSON.stringify(await readQueryForm(Buffer.from(form))));
}

test('the names of a query form are paths to members and lists, and its values keep every character', async () => {
  const form = [
    'Action=SendEmail&Version=2010-12-01',
    'Source=Shop+%3Corders%40shop.test%3E',
    'Destination.ToAddresses.member.2=b%40x.test&Destination.ToAddresses.member.1=a%40x.test',
    'Destination.CcAddresses=',
    'Tags.member.1.Name=order&Tags.member.1.Value=A%2D1&Tags.member.10.Name=last',
    'Message.Subject.Data=%E2%9C%93+100%25+%zz+%',
  ].join('&');
  assert.deepEqual(await read(form), {
    Action: 'SendEmail',
    Version: '2010-12-01',
    Source: 'Shop <orders@shop.test>',
    Destination: { ToAddresses: ['a@x.test', 'b@x.test'], CcAddresses: '' },
    Tags: [{ Name: 'order', Value: 'A-1' }, { Name: 'last' }],
    Message: { Subject: { Data: '✓ 100% %zz %' } },
  });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: codePoint }), async (text) => {
      const value = text.toWellFormed().replaceAll('\ufffd', '');
      const body = new URLSearchParams({ Value: value }).toString();
      assert.deepEqual(await read(body), { Value: value });
    }),
  );
});

test('a value larger than a send body stays bytes, whose escapes may be anywhere', async () => {
  const data = '+/A=+/ABCD'.repeat(300_001);
  const escaped = encodeURIComponent(data).replaceAll('%2F', '%2f');
  const { RawMessage } = await readQueryForm(Buffer.from(`RawMessage.Data=${escaped}`));
  assert.ok(RawMessage !== undefined && 'Data' in Object(RawMessage));
  assert.deepEqual((RawMessage as { Data: Buffer }).Data, Buffer.from(data));
});

test('ASVS 4.0.3 5.1.1, 5.1.2: a form with contradictions, too many values or too much text is refused, and no name reaches a prototype', async () => {
  const parameters = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${name(index + 1)}=x`).join('&');
  for (const [form, reason] of [
    ['A=1&A=2', /"A" twice/],
    ['A=1&A.B=2', /twice, or as a value and an object/],
    ['A.B=1&A=2', /twice/],
    ['=x', /"" twice/],
    [parameters(1_001, (index) => `A${index}`), /more than 1000 values/],
    [parameters(201, (index) => `A.member.${index}`), /more than 200 items/],
    [`${'A.'.repeat(20)}B=1`, /twice/],
    [`${'A'.repeat(201)}=1`, /twice/],
    [`A=${'x'.repeat(200_000)}&B=${'x'.repeat(200_000)}`, /larger than 256 KiB/],
    ['A=%FF', /UTF-8/],
    ['&'.repeat(1_000_000), /larger than 256 KiB/],
    [`${'A'.repeat(1_000)}=${'x'.repeat(300_000)}`, /twice/],
  ] as const)
    await assert.rejects(
      readQueryForm(Buffer.from(form)),
      (error: { details: { reason: string }[] }) => {
        assert.match(error.details[0]?.reason ?? '', reason, form.slice(0, 50));
        return true;
      },
    );
  const polluted = await readQueryForm(
    Buffer.from('__proto__.polluted=1&constructor.prototype.x=1&A.__proto__.polluted=1'),
  );
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  assert.equal(Object.getPrototypeOf(polluted), null);
  assert.deepEqual(await read('A.member.x=1&B.member.1=1&B.other=2'), {
    A: { member: { x: '1' } },
    B: { member: { 1: '1' }, other: '2' },
  });
});

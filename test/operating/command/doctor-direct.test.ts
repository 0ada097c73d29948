import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInProcess } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TestDns } from '../../support/test-dns.ts';

const zones = await new TestDns().start();
zones
  .set('mail.sender.test', { A: ['192.0.2.10'], AAAA: ['2001:db8::10'] })
  .set('10.2.0.192.in-addr.arpa', { PTR: 'mail.sender.test' })
  .set('0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa', {
    PTR: 'mail.sender.test',
  })
  .set('two.sender.test', { A: ['192.0.2.12'] })
  .set('12.2.0.192.in-addr.arpa', { PTR: 'host-12.provider.test' });

async function doctor(settings: Record<string, string>): Promise<string> {
  const { out, err } = await runInProcess(['doctor'], {
    DATA_DIR: temporaryFolder(),
    DELIVERY: 'direct',
    SMTP_HOSTNAME: 'mail.sender.test',
    DNS_SERVERS: zones.server,
    ...settings,
  });
  return out + err;
}

test('doctor accepts matching names and addresses, for IPv4 and IPv6', async () => {
  assert.match(
    await doctor({}),
    /^ok {3}mail {6}delivers directly to the recipients’ servers, as mail\.sender\.test$/m,
  );
  const sources = '192.0.2.10=mail.sender.test,2001:DB8:0::10=mail.sender.test';
  assert.match(await doctor({ DIRECT_SOURCES: sources }), /^ok {3}mail {6}delivers directly/m);
});

for (const [source, said] of [
  ['192.0.2.12=two.sender.test', /PTR record of 192\.0\.2\.12 is host-12\.provider\.test, not two/],
  ['192.0.2.13=two.sender.test', /two\.sender\.test doesn’t resolve to 192\.0\.2\.13/],
  ['192.0.2.14=nowhere.sender.test', /DNS has no address for nowhere\.sender\.test/],
] as const) {
  test(`doctor finds what large receivers would reject: ${source}`, async () => {
    const text = await doctor({ DIRECT_SOURCES: source });
    assert.match(text, /^FAIL mail /m);
    assert.match(text, said);
  });
}

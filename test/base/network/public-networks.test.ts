import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { HostNames } from '../../../src/base/dns/host-names.ts';
import { PublicNetworks } from '../../../src/base/network/public-networks.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { postWebhook } from '../../../src/outcomes/webhook/post-webhook.ts';

const strict = new PublicNetworks([]);
const hostNames = new HostNames(new DnsClient([]), systemClock);

test('private and special addresses are recognized in any notation', () => {
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::1',
    'fec0::1',
    '2002:7f00:1::',
    '2001:db8::1',
    'ff02::1',
    '::127.0.0.1',
    'nonsense',
    '',
  ])
    assert.equal(strict.allows(address), false, address);
  for (const address of [
    '93.184.216.34',
    '8.8.8.8',
    '172.32.0.1',
    '2606:2800:220:1::1',
    '::ffff:8.8.8.8',
  ])
    assert.equal(strict.allows(address), true, address);
  assert.equal(new PublicNetworks(['10.0.0.0/8']).allows('10.1.2.3'), true);
  assert.equal(new PublicNetworks(['10.0.0.0/8']).allows('192.168.0.1'), false);
});

test('names of the local machine are recognized, and allowed if the operator allows loopback', () => {
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'a.b.localhost.']) {
    assert.equal(strict.allowsName(name), false, name);
    assert.equal(new PublicNetworks(['127.0.0.0/8']).allowsName(name), true, name);
    assert.equal(new PublicNetworks(['10.0.0.0/8']).allowsName(name), false, name);
  }
  for (const name of ['localhost.example.com', 'mylocalhost', 'hooks.example.com'])
    assert.equal(strict.allowsName(name), true, name);
});

test('no request reaches a private network, whatever its address looks like', async () => {
  const isPrivate = 'the address is inside a private network, which isn’t in WEBHOOK_NETWORKS';
  for (const [url, reason] of [
    ['https://127.0.0.1/', isPrivate],
    ['https://2130706433/', isPrivate],
    ['https://0x7f.1/', isPrivate],
    ['https://0177.0.0.1/', isPrivate],
    ['https://[::1]/', isPrivate],
    ['https://[::ffff:169.254.169.254]/', isPrivate],
    ['http://8.8.8.8/', 'the URL must use https'],
    ['ftp://8.8.8.8/', 'the URL must use https'],
    ['https://user:pass@8.8.8.8/', 'the URL must not contain credentials'],
    ['nonsense', 'the URL is invalid'],
  ] as const) {
    const { status, text } = await postWebhook(url, {}, '{}', strict, hostNames);
    assert.equal(status, 0, url);
    // A connection that is refused has no status, either.
    assert.equal(text, reason, url);
  }
});

test('names that resolve to a private network are rejected', async () => {
  // The system's hosts file resolves it to the loopback.
  const { status, text } = await postWebhook('https://localhost/', {}, '{}', strict, hostNames);
  assert.equal(status, 0);
  assert.equal(text, 'the address is inside a private network, which isn’t in WEBHOOK_NETWORKS');
});

import assert from 'node:assert/strict';
import { BlockList, isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  describePlace,
  expandIpv6,
  isListed,
  networksOf,
  toBlockList,
  unmapIpv4,
} from '../../../src/base/network/ip-address.ts';
import { truncateAddress } from '../../../src/outcomes/tracking/classify-reader.ts';

/** Groups of an IPv6 address, with many zeros, and one of its spellings. */
const spelledIpv6 = fc
  .record({
    groups: fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }),
    start: fc.nat(7),
    length: fc.nat(8),
    padded: fc.boolean(),
    upper: fc.boolean(),
    zone: fc.constantFrom('', '%eth0'),
  })
  .map(({ groups, start, length, padded, upper, zone }) => {
    const spelled = groups.map((group) => group.toString(16).padStart(padded ? 4 : 1, '0'));
    const end = Math.min(8, start + length);
    const zeros = end > start && groups.slice(start, end).every((group) => group === 0);
    const text = zeros
      ? `${spelled.slice(0, start).join(':')}::${spelled.slice(end).join(':')}`
      : spelled.join(':');
    return { groups, text: `${upper ? text.toUpperCase() : text}${zone}` };
  });
const ipv4 = fc.ipV4();

test('an IPv6 address has eight groups, however it is spelled', () => {
  fc.assert(
    fc.property(spelledIpv6, ({ groups, text }) => {
      assert.ok(isIPv6(text), text);
      assert.deepEqual(
        expandIpv6(text),
        groups.map((group) => group.toString(16)),
      );
    }),
  );
  assert.deepEqual(expandIpv6('64:ff9b::192.0.2.33'), [
    '64',
    'ff9b',
    '0',
    '0',
    '0',
    '0',
    'c000',
    '221',
  ]);
});

test('an address is in its own network, including the truncated network stored for readers', () => {
  fc.assert(
    fc.property(spelledIpv6, ({ text }) => {
      const plain = text.split('%')[0] ?? '';
      assert.deepEqual(networksOf(text), networksOf(plain));
      for (const network of [...networksOf(text), truncateAddress(text)])
        assert.ok(toBlockList([network]).check(plain, 'ipv6'), `${network} ${plain}`);
    }),
  );
  fc.assert(
    fc.property(ipv4, (address) => {
      assert.deepEqual(networksOf(address), [address, truncateAddress(address)]);
      assert.ok(toBlockList([truncateAddress(address)]).check(address, 'ipv4'));
    }),
  );
});

test('any two spellings of one IPv6 address are in the same networks', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      assert.deepEqual(networksOf(address), networksOf(address.toUpperCase()));
    }),
  );
  assert.deepEqual(networksOf('2001:db8::1'), networksOf('2001:0db8:0000::2'));
});

test('an IPv4 address inside an IPv6 one is the same address', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      for (const mapped of [address, `::ffff:${address}`, `::FFFF:${address}`]) {
        assert.equal(unmapIpv4(mapped), address);
        assert.equal(networksOf(mapped)[0], address);
        assert.equal(truncateAddress(mapped), truncateAddress(address));
      }
    }),
  );
  assert.equal(unmapIpv4('2001:db8::1'), '2001:db8::1');
  assert.equal(unmapIpv4('::ffff:1'), '::ffff:1');
});

test('an address is listed exactly if Node’s own block list contains it', () => {
  fc.assert(
    fc.property(ipv4, fc.integer({ min: 0, max: 32 }), ipv4, (base, bits, address) => {
      const own = new BlockList();
      own.addSubnet(base, bits, 'ipv4');
      const list = toBlockList([`${base}/${bits}`]);
      assert.equal(isListed(list, address), own.check(address, 'ipv4'));
      assert.equal(isListed(list, `::ffff:${address}`), own.check(address, 'ipv4'));
      assert.ok(isListed(list, base));
    }),
  );
  const all = toBlockList(['0.0.0.0/0', '::/0']);
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', '::g', '[::1]'])
    assert.equal(isListed(all, text), false, text);
});

test('a place is a network that people recognize', () => {
  const places: readonly (readonly [string, string])[] = [
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['10.1.2.3', 'local network 10.1.2.0/24'],
    ['172.32.1.1', '172.32.1.0/24'],
    ['fd00::1', 'local network fd00:0:0:0::/64'],
    ['127.0.0.1', 'this machine'],
    ['::1', 'this machine'],
  ];
  for (const [address, place] of places) assert.equal(describePlace(address), place);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaySlots } from '../../../src/sending/delivery/delivery-module.ts';

const relay = (connections: number): string => `smtp://relay.test:25?connections=${connections}`;

test('a worker holds four messages per relay connection, so that none waits long', () => {
  assert.equal(relaySlots(relay(10)), 40);
  assert.equal(relaySlots(relay(20)), 80);
});

test('a relay with one connection is kept busy by 30 more messages', () => {
  assert.equal(relaySlots(relay(1)), 31);
});

test('a relay with many connections uses all of them, with 75 more messages', () => {
  assert.equal(relaySlots(relay(100)), 175);
});

test('of several relays, the one with the most connections counts, because any of them may be the one in use', () => {
  assert.equal(relaySlots(`${relay(5)} ${relay(20)}`), 80);
});

test('the inbox counts as a relay with ten connections', () => {
  assert.equal(relaySlots(undefined), 40);
});

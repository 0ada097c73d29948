import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relaySlots } from '../../src/delivery/delivery-module.ts';

const relay = (connections: number): string => `smtp://relay.test:25?connections=${connections}`;

test('a worker holds four messages for each connection of its relay, so that none waits long', () => {
  assert.equal(relaySlots(relay(10)), 40);
  assert.equal(relaySlots(relay(20)), 80);
});

test('a relay with one connection keeps it busy with 30 messages beside', () => {
  assert.equal(relaySlots(relay(1)), 31);
});

test('a relay with many connections has all of them in use, and 75 messages beside', () => {
  assert.equal(relaySlots(relay(100)), 175);
});

test('of several relays the one with the most connections counts, since any of them may be the one that is there', () => {
  assert.equal(relaySlots(`${relay(5)} ${relay(20)}`), 80);
});

test('the inbox is sent to as a relay with ten connections', () => {
  assert.equal(relaySlots(undefined), 40);
});

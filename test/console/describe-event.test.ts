import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent } from '../../console/src/api/management.generated.ts';
import { otherDetails, thingOf } from '../../console/src/audit/describe-event.ts';

function event(kind: string, detail: Record<string, unknown>): AuditEvent {
  return { kind, detail } as AuditEvent;
}

test('an import names the size of its file, and what is zero needs no word', () => {
  const detail = { id: 'suppressions', size: 2_048 };
  assert.deepEqual(otherDetails(event('suppressions_imported', detail)), ['File: 2 KiB']);
  const rotated = { id: 'shop-app', name: 'Shop app', overlap: 0 };
  assert.deepEqual(otherDetails(event('integration_secret_rotated', rotated)), []);
});

test('a thing is known by its name, and a message by none', () => {
  assert.equal(thingOf(event('integration_changed', { id: 'a', name: 'App' })), '“App”');
  assert.equal(thingOf(event('sender_created', { id: 'a@shop.test' })), '“a@shop.test”');
  assert.equal(thingOf(event('message_cancel', { id: '0199' })), 'a message');
});

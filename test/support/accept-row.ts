import { newMessageId } from '../../src/base/values/ids.ts';
import type { AcceptRow } from '../../src/sending/submission/accept-row.ts';

/** A message to one recipient, as an acceptance batch takes it. */
export function makeAcceptRow(changes: Partial<AcceptRow> = {}): AcceptRow {
  return {
    accountId: '1',
    id: newMessageId(),
    retentionDays: 30,
    templateId: 't',
    templateVersion: 1,
    transactional: false,
    trackOpens: true,
    trackClicks: true,
    deliverWhenDelayed: true,
    newUsage: true,
    externalId: undefined,
    tag: undefined,
    clientId: 'c',
    lifetimeSeconds: 60,
    recipients: ['a@example.test'],
    suppressed: [],
    content: '{}',
    key: undefined,
    ...changes,
  } as AcceptRow;
}

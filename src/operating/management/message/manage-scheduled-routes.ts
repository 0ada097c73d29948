import { type Static, Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  StrictObject,
  Text,
  Time,
  TimeOrDay,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import type { MessageId } from '../../../base/values/ids.ts';
import {
  type ScheduledMessage,
  type ScheduleSelection,
  ScheduleStore,
} from '../../../sending/queue/schedule-store.ts';
import { checkSendAt } from '../../../sending/submission/delivery-timing.ts';
import { actorPermissions } from '../access/admit-actor.ts';
import { definePages } from '../answer/list-operations.ts';
import { invalidField } from '../answer/problem.ts';
import { readOptionalTime } from '../answer/read-query.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { readSubjectsOf } from './mask-content.ts';

const ScheduledMessageView = NamedObject('ScheduledMessage', {
  messageId: Uuid,
  sendAt: Time('When it will be sent.'),
  acceptedAt: Time('When it was accepted.'),
  deliverBefore: Nullable(Time('When it expires; null if it has no deadline of its own.')),
  paused: Type.Boolean(),
  templateId: Type.String(),
  templateVersion: Whole('The version it was accepted with.'),
  to: Nullable(Text('Null once personal data is erased.')),
  subject: Nullable(
    Text('Null once personal data is erased, and without the permission `messages:read`.'),
  ),
  tag: Nullable(Type.String()),
  externalId: Nullable(Type.String()),
});

/** Which messages to change: exactly one member. */
const Selection = StrictObject({
  messageId: Type.Optional(Uuid),
  tag: Type.Optional(Text('All messages with this tag.', { maxLength: 48 })),
  externalId: Type.Optional(Text('All messages with this external ID.', { maxLength: 128 })),
});

const ScheduleChangeView = NamedObject('ScheduleChange', {
  changed: Whole('Number of messages changed.'),
  skipped: Whole(
    'Messages skipped because they are being sent right now, or their deadline isn’t after the new time.',
  ),
});

export const listScheduledMessages = definePages({
  id: 'listScheduledMessages',
  summary: 'List scheduled messages, the next one first',
  description:
    'Messages with a future send time. Once it has come, they are listed as queued messages.',
  filters: {
    ...Selection.properties,
    from: Type.Optional(TimeOrDay('Sent at or after this time.')),
    until: Type.Optional(TimeOrDay('Sent before this time.')),
  },
  item: ScheduledMessageView,
  cursor: ['time', 'uuid'],
  async read(call, { after, limit }) {
    const { messageId, tag, externalId, from, until } = call.query;
    const rows = await storeOf(call).list(call.params.accountId, {
      messageId,
      tag,
      externalId,
      from: readOptionalTime('from', from),
      until: readOptionalTime('until', until),
      after,
      // Reads one more.
      limit: limit - 1,
    });
    return addSubjects(call, rows);
  },
  view: ({ exactly: _, ...message }) => message,
  place: ({ exactly, messageId }) => [exactly, messageId],
});

export const moveScheduledMessages = defineOperation({
  id: 'moveScheduledMessages',
  summary: 'Change the send time of scheduled messages',
  description:
    'Selects them by exactly one of `messageId`, `tag` and `externalId`. The current time sends them now. Messages whose send time has come don’t change.',
  body: StrictObject({
    ...Selection.properties,
    sendAt: Text('The new send time (RFC 3339), up to 365 days ahead.', {
      format: 'date-time',
      maxLength: 64,
    }),
  }),
  answer: ScheduleChangeView,
  async handle(call) {
    const selection = selectionOf(call, call.body);
    const sendAt = checkSendAt(call.body.sendAt, call.dependencies.clock.now());
    if (!(sendAt instanceof Date)) throw invalidField('sendAt', sendAt.reason);
    return storeOf(call).move(selection, sendAt, (transaction) =>
      recordAudit(call, transaction, 'schedule_move', nameOf(call.body), {
        sendAt: sendAt.toISOString(),
      }),
    );
  },
});

export const cancelScheduledMessages = defineOperation({
  id: 'cancelScheduledMessages',
  summary: 'Cancel scheduled messages',
  description:
    'Selects them by exactly one of `messageId`, `tag` and `externalId`. Messages whose send time has come don’t change.',
  body: Selection,
  answer: ScheduleChangeView,
  async handle(call) {
    const selection = selectionOf(call, call.body);
    return storeOf(call).cancel(selection, (transaction) =>
      recordAudit(call, transaction, 'schedule_cancel', nameOf(call.body)),
    );
  },
});

/** Adds the subjects, for those who can read messages. */
async function addSubjects(call: OperationCall, rows: readonly ScheduledMessage[]) {
  const { accountId } = call.params;
  const granted = await actorPermissions(call.dependencies, actorOf(call), accountId);
  const canRead = granted?.has('messages:read') === true;
  const subjectOf = canRead ? await readSubjectsOf(call, rows) : () => null;
  return rows.map((row) => ({ ...row, subject: subjectOf(row.messageId) }));
}

function storeOf(call: OperationCall): ScheduleStore {
  return new ScheduleStore(call.dependencies.database);
}

/** @throws Problem unless exactly one member is given */
function selectionOf(
  { params: { accountId } }: OperationCall,
  { messageId, tag, externalId }: Static<typeof Selection>,
): ScheduleSelection {
  const given = [messageId, tag, externalId].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw invalidField('messageId', 'give exactly one of messageId, tag and externalId');
  if (messageId !== undefined) return { accountId, messageId: messageId as MessageId };
  return tag === undefined ? { accountId, externalId: externalId ?? '' } : { accountId, tag };
}

/** What the audit log calls the selected messages. */
function nameOf({ messageId, tag, externalId }: Static<typeof Selection>): string {
  return messageId ?? (tag === undefined ? `externalId ${externalId}` : `tag ${tag}`);
}

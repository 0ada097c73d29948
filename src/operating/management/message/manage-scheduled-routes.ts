import { Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  StrictObject,
  Time,
  TimeOrDay,
  Uuid,
} from '../../../base/values/common-schemas.ts';
import type { MessageId, TemplateId } from '../../../base/values/ids.ts';
import { readSubjects } from '../../../outcomes/report/read-subjects-store.ts';
import {
  type ScheduledMessage,
  type ScheduleSelection,
  ScheduleStore,
} from '../../../sending/queue/schedule-store.ts';
import { checkSendAt } from '../../../sending/submission/delivery-timing.ts';
import { actorPermissions } from '../access/admit-actor.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField } from '../answer/problem.ts';
import { readOptionalTime } from '../answer/read-query.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';

const ScheduledMessageView = NamedObject('ScheduledMessage', {
  messageId: Uuid,
  sendAt: Time('When it will be sent.'),
  acceptedAt: Time('When it was accepted.'),
  deliverBefore: Nullable(Time('When it expires; null if it has no deadline of its own.')),
  paused: Type.Boolean(),
  templateId: Type.String(),
  templateVersion: Type.Integer({ description: 'The version it was accepted with.' }),
  to: Nullable(Type.String({ description: 'Null once personal data is erased.' })),
  subject: Nullable(
    Type.String({
      description: 'Null once personal data is erased, and without the permission `messages:read`.',
    }),
  ),
  tag: Nullable(Type.String()),
  externalId: Nullable(Type.String()),
});

const tag = Type.String({ maxLength: 48, description: 'All messages with this tag.' });
const externalId = Type.String({
  maxLength: 128,
  description: 'All messages with this external ID.',
});

/** Which messages to change: exactly one member. */
const selectionMembers = {
  messageId: Type.Optional(Uuid),
  tag: Type.Optional(tag),
  externalId: Type.Optional(externalId),
};

const ScheduleChangeView = NamedObject('ScheduleChange', {
  changed: Type.Integer({ description: 'Number of messages changed.' }),
  skipped: Type.Integer({
    description:
      'Messages skipped because they are being sent right now, or their deadline isn’t after the new time.',
  }),
});

export const listScheduledMessages = defineOperation({
  id: 'listScheduledMessages',
  summary: 'List scheduled messages, the next one first',
  description:
    'Messages with a future send time. Once it has come, they are listed as queued messages.',
  query: pageQuery({
    messageId: Type.Optional(Uuid),
    tag: Type.Optional(tag),
    externalId: Type.Optional(externalId),
    from: Type.Optional(TimeOrDay('Sent at or after this time.')),
    until: Type.Optional(TimeOrDay('Sent before this time.')),
  }),
  answer: pageOf(ScheduledMessageView),
  async handle(call) {
    const [sendAt, messageId] = readCursor(call.query, 'time', 'uuid') ?? [];
    const limit = pageSizeOf(call.query);
    const rows = await storeOf(call).list(accountOf(call).id, {
      messageId: call.query.messageId,
      tag: call.query.tag,
      externalId: call.query.externalId,
      from: readOptionalTime('from', call.query.from),
      until: readOptionalTime('until', call.query.until),
      after: sendAt === undefined || messageId === undefined ? undefined : [sendAt, messageId],
      limit,
    });
    return toPage(
      await addSubjects(call, rows),
      limit,
      ({ exactly: _, ...message }) => message,
      ({ exactly, messageId: id }) => [exactly, id],
    );
  },
});

export const moveScheduledMessages = defineOperation({
  id: 'moveScheduledMessages',
  summary: 'Change the send time of scheduled messages',
  description:
    'Selects them by exactly one of `messageId`, `tag` and `externalId`. The current time sends them now. Messages whose send time has come don’t change.',
  body: StrictObject({
    ...selectionMembers,
    sendAt: Type.String({
      format: 'date-time',
      maxLength: 64,
      description: 'The new send time (RFC 3339), up to 365 days ahead.',
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
  body: StrictObject(selectionMembers),
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
  const { dependencies } = call;
  const { id: accountId } = accountOf(call);
  const granted = await actorPermissions(dependencies, actorOf(call), accountId);
  const refs = rows.map(({ messageId: id, templateId, templateVersion: version }) => ({
    accountId,
    id,
    templateId: templateId as TemplateId,
    version,
  }));
  const subjects =
    granted?.has('messages:read') === true
      ? await readSubjects(dependencies.database.kysely, dependencies.templates, refs)
      : undefined;
  return rows.map((row) => ({ ...row, subject: subjects?.get(row.messageId)?.text ?? null }));
}

interface SelectionBody {
  readonly messageId?: string;
  readonly tag?: string;
  readonly externalId?: string;
}

function storeOf(call: OperationCall): ScheduleStore {
  return new ScheduleStore(call.dependencies.database);
}

/** @throws Problem unless exactly one member is given */
function selectionOf(
  call: OperationCall,
  { messageId, tag: wantedTag, externalId: wantedExternalId }: SelectionBody,
): ScheduleSelection {
  const { id: accountId } = accountOf(call);
  const given = [messageId, wantedTag, wantedExternalId].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw invalidField('messageId', 'give exactly one of messageId, tag and externalId');
  if (messageId !== undefined) return { accountId, messageId: messageId as MessageId };
  if (wantedTag !== undefined) return { accountId, tag: wantedTag };
  return { accountId, externalId: wantedExternalId ?? '' };
}

/** What the audit log calls the selected messages. */
function nameOf({
  messageId,
  tag: wantedTag,
  externalId: wantedExternalId,
}: SelectionBody): string {
  if (messageId !== undefined) return messageId;
  return wantedTag === undefined ? `externalId ${wantedExternalId}` : `tag ${wantedTag}`;
}

import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { type Principal, personOf } from '../../access/principal.ts';
import { erasePerson, exportPerson } from '../../feedback/privacy/person-data-store.ts';
import { readRetentionRule, saveRetentionRule } from '../../feedback/privacy/retention-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { ComparableAddress } from '../../foundation/email-address.ts';
import { InboxStore } from '../../inbox/inbox-store.ts';
import { isFinalState, type MessageState } from '../../message/message-state.ts';
import { Nullable, strict } from '../answer/common-schemas.ts';
import { inTransaction, recordAudit, saveResource } from '../change-resource.ts';
import { mask } from '../message/mask-content.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';

function days(description: string) {
  return Nullable(Type.Integer({ description, minimum: 3, maximum: 400 }));
}

const RuleView = Type.Object(
  {
    contentDays: days(
      'Values, subject and preview text of messages; one that still waits by then is canceled.',
    ),
    addressDays: days('Addresses, and all else that is personal in a message.'),
    engagementDays: days('Opens and clicks.'),
  },
  { ...strict, title: 'RetentionRule' },
);

function ruleChange(call: OperationCall) {
  const { id } = accountOf(call);
  return {
    kind: 'retention_rule',
    id,
    read: (transaction: DatabaseTransaction) => readRetentionRule(transaction, id),
  };
}

export const getRetentionRule = defineOperation({
  id: 'getRetentionRule',
  summary: 'Read how long personal data is kept where that is shorter than messages are',
  answer: RuleView,
  handle: (call) => ruleChange(call).read(call.dependencies.database.kysely),
});

export const putRetentionRule = defineOperation({
  id: 'putRetentionRule',
  summary: 'Say after how many days personal data goes; null: with the message',
  description: 'It holds for what is kept already, too.',
  body: RuleView,
  answer: RuleView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...ruleChange(call),
      write: (transaction) => saveRetentionRule(transaction, accountOf(call).id, call.body),
    }),
});

function requestOf(call: OperationCall) {
  return {
    accountId: accountOf(call).id,
    address: call.params.address as ComparableAddress,
    requestedBy: requesterOf(actorOf(call)),
    hashKey: call.dependencies.key.derive('privacy record'),
  };
}

function requesterOf(actor: Principal): string {
  return personOf(actor) ?? (actor.kind === 'key' ? actor.keyId : '');
}

export const exportPersonData = defineOperation({
  id: 'exportPersonData',
  summary: 'Read all that is kept about an address, as lines of JSON',
  produces: 'application/x-ndjson',
  async handle(call) {
    await inTransaction(call, (transaction) =>
      recordAudit(call, transaction, 'person_exported', 'address'),
    );
    call.reply
      .header('content-disposition', 'attachment; filename="person.ndjson"')
      .type('application/x-ndjson; charset=utf-8')
      .send(Readable.from(writeLines(call)));
    return undefined;
  },
});

async function* writeLines(call: OperationCall): AsyncGenerator<string> {
  for await (const part of exportPerson(call.dependencies.database.kysely, requestOf(call)))
    yield `${JSON.stringify(withoutSecrets(part))}\n`;
}

/** As long as a message may still be sent, secret values are among its values; nobody is shown those. */
function withoutSecrets(part: Readonly<Record<string, unknown>>): unknown {
  const message = part.message as Readonly<Record<string, unknown>> | undefined;
  const content = message?.content as { readonly values?: object } | null | undefined;
  if (message === undefined || isFinalState(message.state as MessageState) || !content?.values)
    return part;
  const values = Object.fromEntries(Object.keys(content.values).map((name) => [name, mask]));
  return { message: { ...message, content: { ...content, values } } };
}

export const erasePersonData = defineOperation({
  id: 'erasePersonData',
  summary: 'Erase all that is kept about an address',
  description:
    'A message to it that waits is canceled by that, and mail to it that the local inbox captured goes. It cannot be undone.',
  query: Type.Object(
    {
      keepSuppressions: Type.Optional(
        Type.Boolean({
          description: 'Keeps that the address must not be written to. Default true.',
        }),
      ),
    },
    strict,
  ),
  answer: Type.Object(
    {
      messages: Type.Integer(),
      contacts: Type.Integer(),
      suppressions: Type.Integer(),
    },
    { ...strict, title: 'Erased' },
  ),
  async handle(call) {
    const { keepSuppressions = true } = call.query;
    const request = { ...requestOf(call), keepSuppressions };
    const { unlimitedDatabase: database, changeSlots } = call.dependencies;
    const { accountId, address } = request;
    const erase = () =>
      erasePerson(database.kysely, request, async (transaction, erased) => {
        // Also where mail is captured no more: what was, is still there.
        await new InboxStore(database).eraseRecipient(accountId, address, transaction);
        // Whose data it was is not kept in the audit log either; its own record has a keyed hash.
        await recordAudit(call, transaction, 'person_erased', 'address', { ...erased });
      });
    // One at a time of an account: its connection is one of those that sends and tokens use.
    return changeSlots.run(accountId, erase);
  },
});

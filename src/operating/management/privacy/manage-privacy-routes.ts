import { Type } from 'typebox';
import { type Principal, personOf } from '../../../accounts/access/principal.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { addressHashKey } from '../../../base/secrets/hash-address.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  StrictObject,
  Whole,
} from '../../../base/values/common-schemas.ts';
import type { ComparableAddress } from '../../../base/values/email-address.ts';
import { mask } from '../../../content/message/mask-values.ts';
import { isFinalState } from '../../../content/message/message-state.ts';
import type { StoredMessage } from '../../../content/message/message-status-store.ts';
import { erasePerson, exportPerson } from '../../../outcomes/retention/person-data-store.ts';
import {
  readRetentionRule,
  saveRetentionRule,
} from '../../../outcomes/retention/retention-store.ts';
import { InboxStore } from '../../../sending/inbox/inbox-store.ts';
import { sendExport } from '../answer/send-download.ts';
import { findSecretNames } from '../message/mask-content.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';

function days(description: string) {
  return Nullable(Whole(description, { minimum: 3, maximum: 400 }));
}

const RuleView = NamedObject('RetentionRule', {
  contentDays: days(
    'Days to keep values, subject and preview text. Messages still waiting by then are canceled.',
  ),
  addressDays: days('Days to keep addresses and all other personal data of a message.'),
  engagementDays: days('Days to keep opens and clicks.'),
});

export const retentionRuleRoutes = resourceRoutes({
  path: '/accounts/:accountId/retention-rule',
  access: { read: 'privacy:read', write: 'privacy:write' },
  view: RuleView,
  resource: ({ params: { accountId } }) => ({
    kind: 'retention_rule',
    id: accountId,
    read: (transaction: DatabaseTransaction) => readRetentionRule(transaction, accountId),
  }),
  get: { id: 'getRetentionRule', summary: 'Get the retention rule for personal data' },
  put: {
    id: 'putRetentionRule',
    confirmed: true,
    summary: 'Set the retention rule for personal data',
    description: 'Null keeps the data as long as the message. Applies to existing data too.',
    body: RuleView,
    write: (call) => (transaction) =>
      saveRetentionRule(transaction, call.params.accountId, call.body),
  },
});

function requestOf(call: OperationCall) {
  return {
    accountId: call.params.accountId,
    address: call.params.address as ComparableAddress,
    requestedBy: requesterOf(actorOf(call)),
    hashKey: addressHashKey(call.dependencies.key),
  };
}

function requesterOf(actor: Principal): string {
  return personOf(actor) ?? (actor.kind === 'key' ? actor.keyId : '');
}

export const exportPersonData = defineOperation({
  id: 'exportPersonData',
  confirmed: true,
  summary: 'Export all data about an address as NDJSON',
  produces: 'application/x-ndjson',
  async handle(call) {
    await inTransaction(call, (transaction) =>
      recordAudit(call, transaction, 'person_exported', 'address'),
    );
    sendExport(call, 'person.ndjson', writeLines(call));
  },
});

async function* writeLines(call: OperationCall): AsyncGenerator<string> {
  for await (const part of exportPerson(call.kysely, requestOf(call)))
    yield `${JSON.stringify(await withoutSecrets(call, part))}\n`;
}

/** Masks the secret values of a message, and all values of one that isn't final yet. */
async function withoutSecrets(
  call: OperationCall,
  part: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  if (part.message === undefined) return part;
  const { template_version, ...message } = part.message as StoredMessage;
  const { content, state, template_id } = message;
  if (content === null) return { message };
  const secret = isFinalState(state)
    ? await findSecretNames(call, { template_id, template_version })
    : new Set(Object.keys(content.values));
  const values = Object.fromEntries(
    Object.entries(content.values).map(([name, value]) => [
      name,
      value !== null && secret.has(name) ? mask : value,
    ]),
  );
  return { message: { ...message, content: { ...content, values } } };
}

export const erasePersonData = defineOperation({
  id: 'erasePersonData',
  confirmed: true,
  summary: 'Erase all data about an address',
  description:
    'Cancels messages waiting to be sent to it, and deletes captured mail to it and replies from it. You can’t undo this.',
  query: StrictObject({
    keepSuppressions: Type.Optional(Flag('Keep suppressions of the address. Default: true.')),
  }),
  answer: NamedObject('Erased', {
    messages: Type.Integer(),
    contacts: Type.Integer(),
    suppressions: Type.Integer(),
  }),
  async handle(call) {
    const { keepSuppressions = true } = call.query;
    const request = { ...requestOf(call), keepSuppressions };
    const { unlimitedDatabase: database, changeSlots } = call.dependencies;
    const { accountId, address } = request;
    const erase = () =>
      erasePerson(database.kysely, request, async (transaction, erased) => {
        // Earlier mail may still be stored even if mail is no longer captured.
        await new InboxStore(database).eraseRecipient(accountId, address, transaction);
        // The audit log doesn't name the address; the erasure record has its keyed hash.
        await recordAudit(call, transaction, 'person_erased', 'address', { ...erased });
      });
    // One at a time per account, because it uses a connection of the pool for sends and tokens.
    return changeSlots.run(accountId, erase);
  },
});

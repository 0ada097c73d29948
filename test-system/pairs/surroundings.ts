import assert from 'node:assert/strict';
import { removeSender } from '../../src/accounts/sender/sender-store.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { saveRetentionRule } from '../../src/outcomes/retention/retention-store.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { addSender } from '../../test/support/shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { SentCase } from './judge-case.ts';
import type { SendCase } from './send-options.ts';

type Step = (sent: SentCase, owner: ManagementClient) => Promise<unknown>;

/** What happens to a message from its acceptance to its end. */
interface Surrounding {
  /** Between acceptance and delivery. */
  readonly before?: (sent: SentCase) => Promise<unknown>;
  /** Once all that doesn't wait for it has been delivered. */
  readonly meanwhile?: Step;
  /** Once all has been delivered. */
  readonly afterwards?: Step;
  /** Days later. */
  readonly later?: Step;
  /** Why it waits until then. */
  readonly reason?: RegExp;
  /** What is then in no table, with exceptions. */
  readonly erased?: (sent: Pick<SentCase, 'draft'>) => Erased;
}

interface Erased {
  readonly texts: readonly string[];
  readonly except?: readonly string[];
}

type Event = SendCase['event'];

/** The first retention rule allows. */
const eraseAfterDays = 3;
export const laterMs = (eraseAfterDays + 1) * 24 * 60 * 60_000;

/** Rules are about the account's messages; captured mail has limits of its own. */
const captured = ['inbox_message'];

export const surroundings: Readonly<Record<Event, Surrounding>> = {
  none: {},
  paused: {
    before: (sent) => control(sent, 'pause'),
    meanwhile: (sent) => control(sent, 'resume'),
    reason: /paused manually/,
  },
  canceled: { before: (sent) => control(sent, 'cancel') },
  'account suspended': {
    before: ({ way, draft }) => way.setSuspended(draft, true),
    meanwhile: ({ way, draft }) => way.setSuspended(draft, false),
    reason: /the account is suspended/,
  },
  'sender removed': { before: withoutSender, reason: /isn’t a verified sender/ },
  'sender removed and added': {
    before: withoutSender,
    async meanwhile(sent) {
      const { way, draft } = sent;
      const { database } = way.stored;
      const displayNames = ['Demo Shop'];
      await addSender(database, draft.accountId as AccountId, 'orders@shop.test', { displayNames });
      // Nodes notice it within a second.
      await waitFor('the sender to be used again', async () => {
        requireDone(await callerOf(sent).post(`${pathOf(sent)}/queue/retry`));
        const { rows } = await database.pool.query(
          'select from queued_delivery where account_id = $1',
          [draft.accountId],
        );
        return rows.length === 0;
      });
    },
    reason: /isn’t a verified sender/,
  },
  resent: {
    async afterwards(sent) {
      for (const id of sent.messages.keys()) {
        const { status, body, text } = await callerOf(sent).post(
          `${pathOf(sent)}/messages/${id}/resend`,
        );
        assert.equal(status, 201, text);
        sent.copies.set(String(body.messageId), sent.messages.get(id) ?? '');
      }
    },
  },
  'To erased while waiting': eraseWhileWaiting(({ draft }) => draft.to),
  'Cc erased while waiting': eraseWhileWaiting(erasedCc),
  'To erased at the end': {
    afterwards: (sent, owner) => erase(sent, owner, sent.draft.to),
    erased: ({ draft }) => ({ texts: [draft.to] }),
  },
  'content erased while waiting': {
    async before(sent) {
      await setRule(sent, { contentDays: eraseAfterDays });
      await sent.way.setSuspended(sent.draft, true);
    },
    later: ({ way, draft }) => way.setSuspended(draft, false),
    erased: erasedTexts,
    reason: /the account is suspended/,
  },
  'content erased at the end': {
    before: (sent) => setRule(sent, { contentDays: eraseAfterDays }),
    erased: erasedTexts,
  },
  'addresses erased at the end': {
    before: (sent) => setRule(sent, { addressDays: eraseAfterDays }),
    erased: ({ draft: { to, cc, bcc, suppressed } }) => ({
      // Suppressions are kept.
      texts: [to, ...cc, ...bcc].filter((address) => !suppressed.includes(address)),
      except: captured,
    }),
  },
  'DKIM key rotated': {
    before: ({ way, draft }) => way.rotateDkimKey(draft.accountId as AccountId),
  },
  'master key rotated': { before: ({ way }) => way.rotateMasterKey() },
  'worker died before the dot': {},
  'worker died after the dot': {},
};

function erasedTexts({ draft: { name } }: Pick<SentCase, 'draft'>): Erased {
  return { texts: [`${name} & S`, `order of ${name}`], except: captured };
}

/** The address that is erased with a Cc recipient. */
export function erasedCc({ draft }: Pick<SentCase, 'draft'>): string {
  return draft.cc.find((address) => !draft.suppressed.includes(address)) ?? '';
}

function eraseWhileWaiting(whom: (sent: Pick<SentCase, 'draft'>) => string): Surrounding {
  const pauses = (sent: SentCase): string => `${pathOf(sent)}/queue/pauses/*`;
  return {
    before: async (sent) => requireDone(await callerOf(sent).put(pauses(sent))),
    async meanwhile(sent, owner) {
      await erase(sent, owner, whom(sent));
      requireDone(await callerOf(sent).delete(pauses(sent)));
    },
    erased: (sent) => ({ texts: [whom(sent)] }),
    reason: /all mail is paused/,
  };
}

async function erase(sent: SentCase, owner: ManagementClient, address: string): Promise<void> {
  requireDone(await owner.delete(`${pathOf(sent)}/people/${address}`));
}

function requireDone({ status, text }: { readonly status: number; readonly text: string }): void {
  assert.ok(status >= 200 && status < 300, text);
}

function pathOf({ draft }: SentCase): string {
  return `/accounts/${draft.accountId}`;
}

function callerOf({ way, key }: SentCase): ManagementClient {
  return new ManagementClient(way.accepting, key);
}

/** Does something with each message of a case. */
async function control(sent: SentCase, action: 'pause' | 'resume' | 'cancel'): Promise<void> {
  for (const id of sent.messages.keys()) {
    const { body, text } = await callerOf(sent).post(`${pathOf(sent)}/messages/${id}/${action}`);
    assert.deepEqual(body, { changed: 1, busy: 0 }, text);
  }
}

async function withoutSender({ way, draft }: SentCase): Promise<void> {
  const accountId = draft.accountId as AccountId;
  await way.stored.database.kysely
    .transaction()
    .execute((transaction) => removeSender(transaction, accountId, 'orders@shop.test' as never));
}

async function setRule(
  { way, draft }: SentCase,
  rule: { readonly contentDays?: number; readonly addressDays?: number },
): Promise<void> {
  const all = { contentDays: null, addressDays: null, engagementDays: null, ...rule };
  await saveRetentionRule(way.stored.database.kysely, draft.accountId as AccountId, all);
}

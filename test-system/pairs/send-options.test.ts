import { after, test } from 'node:test';
import { generateDkimKey } from '../../src/accounts/sender/dkim-key.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { restoreTestKey } from '../../test/support/test-service.ts';
import { coverPairs } from './covering-array.ts';
import { DeliveryWay } from './delivery-ways.ts';
import { isOfCase, judgeCase, readWaiting, type SentCase } from './judge-case.ts';
import type { Hold } from './receivers.ts';
import {
  coveredOptions,
  inTriples,
  makeDraft,
  type SendCase,
  sendOptions,
} from './send-options.ts';
import { submitDraft } from './submit-draft.ts';
import { laterMs, surroundings } from './surroundings.ts';

// Some cases rotate it.
after(restoreTestKey);

/** Another seed gives other cases for the same pairs. */
const seed = Number(process.env.PAIRS_SEED ?? 1);
const cases = coverPairs(coveredOptions, inTriples, seed) as unknown as readonly SendCase[];

const shared = {
  dns: (await new TestDns().start()).set('mail.sender.test', { A: ['127.0.0.1'] }),
  submission: await submissionEnvironment(),
  dkim: await generateDkimKey('rsa-sha256'),
};
async function sendCase(way: DeliveryWay, values: SendCase, number: number): Promise<SentCase> {
  const draft = makeDraft(values, number);
  const key = await way.openAccount(draft);
  const submitted = await submitDraft(values.door, way.doors, draft, key);
  await way.publish(draft.accountId as AccountId, 'due');
  const { rows } = await way.stored.database.pool.query<{ id: string; to: string }>(
    "select id, content ->> 'to' as to from message where account_id = $1 order by id",
    [draft.accountId],
  );
  const messages = new Map(rows.map(({ id, to }) => [id, to]));
  const sent: SentCase = { values, draft, way, key, submitted, messages, copies: new Map() };
  await surroundings[values.event].before?.(sent);
  return sent;
}

/** Takes all cases of an installation to their ends. */
async function runToEnd(way: DeliveryWay, all: readonly SentCase[]): Promise<void> {
  type Moment = 'meanwhile' | 'afterwards' | 'later';
  const accountsThat = (has: (sent: SentCase) => unknown): string[] =>
    all.filter(has).map(({ draft }) => draft.accountId);
  const waits = ({ values: { event } }: SentCase): boolean =>
    surroundings[event].reason !== undefined;
  const isDying = ({ values }: SentCase): boolean => holdOf(values) !== undefined;
  const dying = new Map(
    all.flatMap(({ values, draft: { name } }) => {
      const hold = holdOf(values);
      return hold === undefined || values.deliverBefore === 'passed'
        ? []
        : [[`${name}.test`, hold] as const];
    }),
  );
  await way.startDelivery(
    dying,
    accountsThat((sent) => waits(sent) || isDying(sent)),
  );
  await way.settle(accountsThat(waits));
  for (const sent of all.filter(waits)) sent.waiting = await readWaiting(sent);
  const owner = await way.owner();
  const happen = (moment: Moment): Promise<unknown> =>
    Promise.all(
      all.map(async (sent) => {
        try {
          await surroundings[sent.values.event][moment]?.(sent, owner);
        } catch (error) {
          sent.problem ??= error;
        }
      }),
    );
  await happen('meanwhile');
  const stillWait = accountsThat(({ values: { event } }) =>
    ['sender removed', 'content erased while waiting'].includes(event),
  );
  await way.settle(stillWait);
  // What is erased afterwards has arrived.
  await way.arrived();
  await happen('afterwards');
  await way.settle(stillWait);
  await way.arrived();
  await way.stored.clock.set(way.doors.start + laterMs);
  await way.keepPrivacy();
  await happen('later');
  await way.settle();
}

function holdOf({ event }: SendCase): Hold | undefined {
  if (event === 'worker died before the dot') return 'before the dot';
  return event === 'worker died after the dot' ? 'after the dot' : undefined;
}

/** What is wrong with cases. */
const problems = new Map<SendCase, unknown>();
// One after another, because each has many connections to the database.
for (const [name, own] of Map.groupBy(cases.entries(), ([, values]) => values.way)) {
  const way = await DeliveryWay.open(name, shared);
  const sent: SentCase[] = [];
  await Promise.all(
    own.map(async ([number, values]) => {
      try {
        sent.push(await sendCase(way, values, number));
      } catch (error) {
        problems.set(values, error);
      }
    }),
  );
  await runToEnd(way, sent);
  const arrived = await way.arrived();
  for (const one of sent)
    try {
      if (one.problem !== undefined) throw one.problem;
      await judgeCase(
        one,
        arrived.filter((mail) => isOfCase(mail, one.draft)),
      );
    } catch (error) {
      problems.set(one.values, error);
    }
  await way.stop();
}

/** The values that aren't the first of their option. */
function describe(values: SendCase): string {
  const chosen = Object.entries(sendOptions).flatMap(([name, option]) => {
    const value = values[name as keyof SendCase];
    return value === Object.keys(option.values)[0] ? [] : [`${name}: ${value}`];
  });
  return chosen.join(', ');
}

for (const [number, values] of cases.entries())
  test(`case ${number}: ${describe(values)}`, () => {
    if (problems.has(values)) throw problems.get(values);
  });

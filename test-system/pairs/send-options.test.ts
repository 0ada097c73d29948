import { test } from 'node:test';
import type { AccountId } from '../../src/foundation/ids.ts';
import { generateDkimKey } from '../../src/sender/dkim-key.ts';
import { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { coverPairs } from './covering-array.ts';
import { DeliveryWay } from './delivery-ways.ts';
import { judgeCase, type SentCase } from './judge-case.ts';
import {
  coveredOptions,
  inTriples,
  makeDraft,
  type SendCase,
  sendOptions,
} from './send-options.ts';
import { submitDraft } from './submit-draft.ts';

/** Another seed gives other cases for the same pairs. */
const seed = Number(process.env.PAIRS_SEED ?? 1);
const cases = coverPairs(coveredOptions, inTriples, seed) as unknown as readonly SendCase[];

const shared = {
  dns: (await new TestDns().start()).set('mail.sender.test', { A: ['127.0.0.1'] }),
  submission: await submissionEnvironment(),
  dkim: await generateDkimKey('rsa-sha256'),
};
const way = await DeliveryWay.open(shared);

async function sendCase(values: SendCase, number: number): Promise<SentCase> {
  const draft = makeDraft(values, number);
  const key = await way.openAccount(draft);
  const submitted = await submitDraft(values.door, way.doors, draft, key);
  await way.publish(draft.accountId as AccountId, 'due');
  return { values, draft, way, key, submitted };
}

const sent = await Promise.allSettled(cases.map(sendCase));
await way.startDelivery();
await waitFor('all messages to be sent', () => way.isSettled());

/** The values that aren't the first of their option. */
function describe(values: SendCase): string {
  const chosen = Object.entries(sendOptions).flatMap(([name, option]) => {
    const value = values[name as keyof SendCase];
    return value === Object.keys(option.values)[0] ? [] : [`${name}: ${value}`];
  });
  return chosen.join(', ');
}

for (const [number, result] of sent.entries())
  test(`case ${number}: ${describe(cases[number] as SendCase)}`, async () => {
    if (result.status === 'rejected') throw result.reason;
    const { name } = result.value.draft;
    const isOfCase = (address: string): boolean => address.endsWith(`@${name}.test`);
    await judgeCase(
      result.value,
      way.arrived().filter(({ to }) => to.some(isOfCase)),
    );
  });

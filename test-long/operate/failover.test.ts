import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureFailover } from '../../bench/failover/measure-failover.ts';

const minutes = Number(process.env.FAILOVER_MINUTES ?? 30);
const rate = Number(process.env.FAILOVER_RATE ?? 25);
/** Of a promotion, for the cluster and the service together, while commits have a standby to wait for. */
const maxAfterPromotionSeconds = 2;

test('a PostgreSQL cluster under Patroni loses no accepted message and doubles none unrecorded, and nodes accept within 2 s of each promotion', {
  // The last fault, the queue of paused accounts and the comparison come after the minutes of load.
  timeout: (minutes + 30) * 60_000,
}, async (t) => {
  const { faults, findings, acceptedOf, states, ...counts } = await measureFailover({
    minutes,
    rate,
    synchronous: true,
    report: (fault) => t.diagnostic(JSON.stringify(fault)),
  });
  assert.deepEqual(findings, [
    'if a synchronous standby fails, nothing is accepted until it is back or another one is named',
  ]);
  t.diagnostic(JSON.stringify({ ...counts, acceptedOf, states }));
  const { lost, doubled, repeatedRequests, damaged, early, stillWaiting, accepted } = counts;
  assert.deepEqual(
    { lost, doubled, repeatedRequests, damaged, early, stillWaiting },
    { lost: 0, doubled: 0, repeatedRequests: 0, damaged: 0, early: 0, stillWaiting: 0 },
  );
  assert.ok(accepted > minutes * 60 * rate * 0.5, `only ${accepted} were accepted`);
  const promotions = faults.filter(({ promotion_s }) => promotion_s !== undefined);
  assert.ok(promotions.length > 0, 'nothing was promoted');
  for (const { fault, after_promotion_s: accepting, alone_s: alone = 0 } of promotions) {
    const seconds = (accepting ?? Number.POSITIVE_INFINITY) - alone;
    assert.ok(
      seconds <= maxAfterPromotionSeconds,
      `${fault}: ${accepting} s after the promotion, ${alone} s of them without a standby`,
    );
  }
});

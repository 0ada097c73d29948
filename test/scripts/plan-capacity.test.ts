import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { costAt, type MeasuredCosts, type UnitCost } from '../../scripts/cost-model.ts';
import { defaultAssumptions, planCapacity } from '../../scripts/plan-capacity.ts';

const many: UnitCost = {
  rate: 1_000,
  serviceMicroseconds: 1_000,
  databaseMicroseconds: 2_000,
  followMicroseconds: 200,
  walBytes: 8_000,
  keptBytes: 3_000,
};
const costs: MeasuredCosts = { many, single: { ...many, rate: 100, serviceMicroseconds: 3_000 } };

test('the cost of a message falls with the logarithm of the rate, between the measured rates', () => {
  assert.equal(costAt(10, costs).serviceMicroseconds, 3_000);
  assert.equal(costAt(100, costs).serviceMicroseconds, 3_000);
  assert.ok(Math.abs(costAt(Math.sqrt(100_000), costs).serviceMicroseconds - 2_000) < 1e-6);
  assert.equal(costAt(1_000, costs).serviceMicroseconds, 1_000);
  assert.equal(costAt(50_000, costs).serviceMicroseconds, 1_000);
});

test('a plan stays within every limit, with as few databases as that needs', () => {
  const { usableShare, maxDatabaseCores, maxLogMegabytes, nodeCores } = defaultAssumptions;
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e10, noNaN: true }), (messagesPerDay) => {
      const plan = planCapacity(messagesPerDay, costs);
      for (const { name, used, waitMs } of plan.resources) {
        assert.ok(used <= (name === 'write-ahead log' ? 1 : usableShare) + 1e-9, name);
        assert.ok(waitMs >= 0);
      }
      assert.ok(plan.databaseCores / plan.databases <= maxDatabaseCores);
      assert.ok(plan.serviceCores <= plan.nodes * nodeCores);
      const rate = plan.peak / Math.max(1, plan.databases - 1);
      const fewer = plan.databases === 1 ? undefined : costAt(rate, costs);
      if (fewer !== undefined)
        assert.ok(
          (rate * fewer.databaseMicroseconds) / 1e6 / usableShare > maxDatabaseCores ||
            (rate * fewer.walBytes) / 1e6 > maxLogMegabytes ||
            (rate * fewer.followMicroseconds) / 1e6 > usableShare,
        );
    }),
  );
});

test('the resource that is used up first comes first', () => {
  const names = planCapacity(1e6, costs).resources.map(({ name }) => name);
  assert.equal(names.length, 4);
  const slow = { ...many, followMicroseconds: 1e6 };
  const plan = planCapacity(1e3, { single: slow, many: slow });
  assert.equal(plan.resources[0]?.name, 'slowest follower');
});

test('the wait for one of several servers is that of the tables of Erlang C', () => {
  // Two servers that are busy half of the time: a third of the messages wait.
  const half: UnitCost = { ...many, serviceMicroseconds: 1e6, databaseMicroseconds: 1 };
  const assumptions = { ...defaultAssumptions, nodeCores: 2, usableShare: 0.5, peakFactor: 1 };
  const plan = planCapacity(86_400, { single: half, many: half }, assumptions);
  const nodes = plan.resources.find(({ name }) => name === 'nodes');
  assert.equal(plan.nodes, 1);
  assert.ok(Math.abs((nodes?.waitMs ?? 0) - 1_000 / 3) < 0.5);
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CommitFailure } from '../../../src/base/database/group-commit.ts';
import { Fault } from '../../../src/base/values/errors.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import {
  Acceptor,
  defaultAcceptorLimits,
} from '../../../src/sending/submission/accept-messages.ts';
import {
  type AcceptRow,
  acceptedOutcome,
  keyTakenOutcome,
} from '../../../src/sending/submission/accept-row.ts';
import { AcceptStore } from '../../../src/sending/submission/accept-store.ts';
import { makeAcceptRow } from '../../support/accept-row.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database, url } = await createTestDatabase();
const gate = await openGate(url);
const store = new AcceptStore({ url: gate.url }, 2);
after(() => store.close());

const announced: AccountId[][] = [];

function makeAcceptor(limits: Partial<typeof defaultAcceptorLimits> = {}): Acceptor {
  return new Acceptor(
    {
      store,
      log: createLog('silent'),
      onAccepted: (accountIds) => announced.push([...accountIds]),
    },
    { ...defaultAcceptorLimits, ...limits },
  );
}

async function isStored(row: AcceptRow): Promise<boolean> {
  const { rows } = await database.pool.query(
    'select from message join queued_delivery on message_id = id where id = $1',
    [row.id],
  );
  return rows.length === 1;
}

function isIoException(error: unknown): boolean {
  return error instanceof Fault && error.code === 'IO_EXCEPTION';
}

test('after a commit, accounts with new messages are announced once per batch', async () => {
  const acceptor = makeAcceptor();
  announced.length = 0;
  const rows = ['1', '2', '1'].map((accountId) =>
    makeAcceptRow({ accountId: accountId as AccountId }),
  );
  await Promise.all(rows.map((row) => acceptor.accept(row)));
  assert.deepEqual(announced.flat().sort(), ['1', '2']);
});

test('a row with invalid data fails alone; the others of its batch are stored', async () => {
  const acceptor = makeAcceptor();
  const good = [
    makeAcceptRow(),
    makeAcceptRow(),
    makeAcceptRow({ key: { text: 'k', requestHash: '\0'.repeat(32) } }),
  ];
  const bad = makeAcceptRow({ content: 'no JSON' });
  const results = await Promise.allSettled(
    [good[0], bad, good[1], good[2]].map((row) => acceptor.accept(row ?? bad)),
  );
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  for (const row of good) assert.ok(await isStored(row));
  assert.equal(await isStored(bad), false);
});

test('rows that are accepted together have an outcome each: stored, suppressed, or an error', async () => {
  const acceptor = makeAcceptor();
  await database.pool.query(`insert into account (id, name) values ('1', 'Shop')`);
  await database.pool.query(
    `insert into suppression (account_id, address, reason) values ('1', 'gone@example.test', 'hard_bounce')`,
  );
  const rows = [
    makeAcceptRow(),
    makeAcceptRow({ recipients: ['gone@example.test'] as unknown as AcceptRow['recipients'] }),
    makeAcceptRow({ content: 'no JSON' }),
    makeAcceptRow(),
  ];
  const [first, suppressed, invalid, last] = await acceptor.acceptAll(rows);
  assert.deepEqual([first, last], [acceptedOutcome, acceptedOutcome]);
  assert.deepEqual(suppressed, { kind: 'suppressed', addresses: ['gone@example.test'] });
  assert.ok(invalid instanceof CommitFailure);
  assert.deepEqual(await Promise.all(rows.map(isStored)), [true, false, false, true]);
  assert.deepEqual(await acceptor.acceptAll([]), []);
});

test('of rows that are accepted together, those over the waiting limit get a 503', async () => {
  const acceptor = makeAcceptor({ maxBatchRows: 2, concurrency: 1, waiting: 4 });
  const rows = Array.from({ length: 10 }, () => makeAcceptRow());
  const outcomes = await acceptor.acceptAll(rows);
  for (const [index, row] of rows.entries()) {
    const outcome = outcomes[index];
    assert.equal(await isStored(row), index < 4);
    if (index < 4) assert.deepEqual(outcome, acceptedOutcome);
    else assert.ok(outcome instanceof CommitFailure && isIoException(outcome.error));
  }
});

test('a row whose attachment a failover has lost gets a 503, since its sender can repeat it; the others are stored', async () => {
  const acceptor = makeAcceptor();
  const lost = makeAcceptRow({ attachments: ['\x01'.repeat(32)] });
  const other = makeAcceptRow();
  const [failed, accepted] = await Promise.allSettled([
    acceptor.accept(lost),
    acceptor.accept(other),
  ]);
  assert.ok(failed.status === 'rejected' && isIoException(failed.reason));
  assert.deepEqual(accepted, { status: 'fulfilled', value: acceptedOutcome });
  assert.equal(await isStored(lost), false);
  await assert.rejects(acceptor.accept(lost), isIoException);
});

test('a key claimed by another node after the lookup is reported as taken, and the rest of the batch is stored', async () => {
  const holder = await database.pool.connect();
  const requestHash = '\0'.repeat(32);
  const rows = [
    makeAcceptRow({ key: { text: 'raced', requestHash } }),
    makeAcceptRow({ key: { text: 'calm', requestHash } }),
    makeAcceptRow(),
  ];
  try {
    await holder.query('begin');
    await holder.query(
      `insert into idempotency_key (account_id, key, request_hash, message_id, created_at)
       values ($1, 'raced', '\\x00', gen_random_uuid(), now())`,
      [rows[0]?.accountId],
    );
    const inserted = store.insert(rows);
    await waitForLock(database);
    await holder.query('commit');
    assert.deepEqual(await inserted, [keyTakenOutcome, acceptedOutcome, acceptedOutcome]);
  } finally {
    holder.release();
  }
  assert.deepEqual(await Promise.all(rows.map(isStored)), [false, true, true]);
});

test('a row that is resent with its id is stored once', async () => {
  const acceptor = makeAcceptor();
  const row = makeAcceptRow();
  assert.deepEqual(await acceptor.accept(row), { kind: 'accepted' });
  assert.deepEqual(await acceptor.acceptAgain(row), { kind: 'accepted' });
  assert.ok(await isStored(row));
});

test('a request over the waiting limit is refused at once', async () => {
  const acceptor = makeAcceptor({ maxBatchRows: 2, concurrency: 1, waiting: 4 });
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => acceptor.accept(makeAcceptRow())),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  assert.equal(refused.length, 6);
  for (const { reason } of refused) assert.ok(isIoException(reason));
});

test('a request that waits too long for a batch is refused, never sent late', async () => {
  const acceptor = makeAcceptor({ maxBatchRows: 1, concurrency: 1, maxWaitMs: 0 });
  const rows = Array.from({ length: 5 }, () => makeAcceptRow());
  const results = await Promise.allSettled(rows.map((row) => acceptor.accept(row)));
  for (const [index, row] of rows.entries())
    assert.equal(await isStored(row), results[index]?.status === 'fulfilled');
  assert.ok(results.some((result) => result.status === 'rejected' && isIoException(result.reason)));
});

test('if the outcome stays unknown for too long, the response is a 503', async () => {
  const acceptor = makeAcceptor({ outcomeTimeoutMs: 300 });
  await acceptor.accept(makeAcceptRow());
  const row = makeAcceptRow();
  gate.cutAnswers('signalpost accept');
  await assert.rejects(acceptor.accept(row), isIoException);
  gate.open();
  await waitFor('a connection', () =>
    acceptor.accept(makeAcceptRow()).then(
      () => true,
      () => false,
    ),
  );
});

test('all rows left uncertain by a silent database get a response soon after the outcome timeout', async () => {
  const acceptor = makeAcceptor({ outcomeTimeoutMs: 500, readyBatchRows: 100 });
  await acceptor.accept(makeAcceptRow());
  const rows = Array.from({ length: 100 }, () => acceptor.accept(makeAcceptRow()));
  gate.hold();
  const start = performance.now();
  const results = await Promise.allSettled(rows);
  const elapsed = performance.now() - start;
  gate.open();
  for (const result of results)
    assert.ok(result.status === 'rejected' && isIoException(result.reason));
  // 8 s of silence for the batch, and once more for the query running at the timeout; one by one it would be 100 s.
  assert.ok(elapsed < 20_000, `${elapsed} ms`);
  await waitFor('a connection', () =>
    acceptor.accept(makeAcceptRow()).then(
      () => true,
      () => false,
    ),
  );
});

test('all rows that wait for a lock get a response soon after the max wait', async () => {
  const acceptor = makeAcceptor({ maxWaitMs: 2_000, readyBatchRows: 100 });
  const locker = await database.pool.connect();
  await locker.query('begin; lock table queued_delivery in share mode');
  const rows = Array.from({ length: 100 }, () => makeAcceptRow());
  const start = performance.now();
  const results = await Promise.allSettled(rows.map((row) => acceptor.accept(row)));
  const elapsed = performance.now() - start;
  await locker.query('rollback');
  locker.release();
  for (const result of results)
    assert.ok(result.status === 'fulfilled' && result.value.kind === 'busy');
  // Each waits for a lock for 1 s, two at a time.
  assert.ok(elapsed < 10_000, `${elapsed} ms`);
  for (const row of rows) assert.equal(await isStored(row), false);
});

test('draining waits for all added rows', async () => {
  const acceptor = makeAcceptor();
  let done = 0;
  const rows = Array.from({ length: 30 }, () => makeAcceptRow());
  for (const row of rows)
    void acceptor.accept(row).then(() => {
      done += 1;
    });
  await acceptor.drain();
  await waitFor('the answers', () => done === rows.length, 100);
  for (const row of rows) assert.ok(await isStored(row));
});

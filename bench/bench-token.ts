import { setImmediate as endOfTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { Authenticator } from '../src/accounts/access/access-module.ts';
import { findAccessToken } from '../src/accounts/access/access-token-store.ts';
import { TokenChecker } from '../src/accounts/access/token-checker.ts';
import { hashToken, TokenMint } from '../src/accounts/access/token-mint.ts';
import { ChangeListener } from '../src/base/database/change-listener.ts';
import type { Database } from '../src/base/database/open-database.ts';
import { systemClock } from '../src/base/values/clock.ts';
import { createLog } from '../src/base/values/log.ts';
import { testKey } from '../test/support/test-service.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { noOpPath, openBench, openLoad } from './bench-account.ts';
import { type BenchOptions, type BenchResult, makeResult, percentiles } from './bench-result.ts';
import { copyRows } from './copy-rows.ts';
import { takeTurns } from './tally.ts';

const allTokens = 1_000_000;
const chunkSize = 20_000;
const rounds = 100;
const checksPerRound = 20_000;
/** Tokens that requests use at a time. */
const inUse = 10;
const mint = new TokenMint(testKey);

/** Checks of cached access tokens, with ten and with a million live ones. The ratio is a check's share of a no-op POST. */
export async function benchToken({ seconds, nodeOptions }: BenchOptions): Promise<BenchResult[]> {
  await using bench = await openBench({ nodeOptions });
  await using closing = new AsyncDisposableStack();
  const { database, token } = bench;
  const noOp = openLoad(bench, { path: noOpPath, count: 1_000 });
  await takeTurns([noOp], { seconds, rounds: 1 });
  await bench.service.stop();
  const changes = new ChangeListener(database.settings, createLog('silent'));
  closing.defer(() => changes.close());
  const find = (hash: Buffer) => findAccessToken(database, hash);
  const checker = new TokenChecker({ mint, find, changes, clock: systemClock });
  await changes.start();
  const few = [token, ...(await copyToken(database, token, inUse - 1))];
  const first = await measureChecks(checker, few, noOp.rate);
  const all = [...few, ...(await copyToken(database, token, allTokens - inUse))];
  return [first, await measureChecks(checker, all, noOp.rate)];
}

/** @returns new tokens like the given one */
async function copyToken(database: Database, token: string, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => mint.mint('access'));
  for (let from = 0; from < count; from += chunkSize)
    await copyRows(database, {
      table: 'access_token',
      where: sql`one.hash = ${hashToken(token)}`,
      times: sql`unnest(${tokens.slice(from, from + chunkSize).map(({ hash }) => hash)}::bytea[])`,
      columns: { hash: sql`copy` },
    });
  return tokens.map(({ text }) => text);
}

async function measureChecks(
  checker: TokenChecker,
  tokens: readonly string[],
  ceiling: number,
): Promise<BenchResult> {
  // First use tokens of the whole set, so that the cache fills.
  const step = Math.max(1, Math.floor(tokens.length / 2_000));
  for (let index = 0; index < tokens.length; index += step) {
    const caller = await checker.check(tokens[index] ?? '');
    if (caller === undefined) throw new Error('a live token was rejected');
  }
  const authenticator = new Authenticator(checker, { check: () => undefined });
  const hot = tokens.slice(0, inUse).map((token) => `Bearer ${token}`);
  const times: number[] = [];
  while (times.length < rounds) {
    // On an overloaded machine, the service bypasses its cache while revocation notices may be missed.
    await waitFor('tokens to be in memory', () =>
      hot.every((header) => isFromMemory(authenticator.authenticate(header))),
    );
    const started = performance.now();
    let fromMemory = true;
    for (let count = 0; count < checksPerRound && fromMemory; count += 1)
      fromMemory = isFromMemory(authenticator.authenticate(hot[count % hot.length]));
    if (fromMemory) times.push((performance.now() - started) / checksPerRound);
    await endOfTurn();
  }
  const { p50_ms: p50, p99_ms: p99 } = percentiles(times);
  const heapMiB = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  const round = (value: number, digits: number) => Number(value.toFixed(digits));
  const ratio = round((ceiling * p50) / 1_000, 4);
  const latencies = { p50_ms: round(p50, 6), p99_ms: round(p99, 6) };
  const params = { tokens: tokens.length, inUse, heapMiB };
  return makeResult('token', params, { rate: 1_000 / p50, ceiling, ratio, ...latencies });
}

function isFromMemory(result: ReturnType<Authenticator['authenticate']>): boolean {
  if (result === undefined) throw new Error('a live token was rejected');
  if (!(result instanceof Promise)) return true;
  result.catch(() => undefined);
  return false;
}

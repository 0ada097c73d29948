import { setImmediate as endOfTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { AccessTokenStore } from '../src/access/access-token-store.ts';
import { Authenticator } from '../src/access/authenticator.ts';
import { TokenChecker } from '../src/access/token-checker.ts';
import { type Token, TokenMint } from '../src/access/token-mint.ts';
import { ChangeListener } from '../src/foundation/change-listener.ts';
import { systemClock } from '../src/foundation/clock.ts';
import type { Database } from '../src/foundation/database/open-database.ts';
import { createLog } from '../src/foundation/log.ts';
import { issueTokens } from '../src/session/issue-tokens-store.ts';
import type { Shop } from '../test/support/shop.ts';
import { testKey } from '../test/support/test-service.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { noOpPath, openBenchAccount, wireRequests } from './bench-account.ts';
import { type BenchDatabase, startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult, median } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows } from './copy-rows.ts';
import { LoadTally } from './tally.ts';

const allTokens = 1_000_000;
const chunkSize = 20_000;
const rounds = 100;
const checksPerRound = 20_000;
/** Tokens that requests use at the time. */
const inUse = 10;

/** Checks of access tokens from memory, with ten and with a million live ones. The ratio is a check's share of a POST that does nothing. */
export async function benchToken(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { database } = bench;
  const shop = await openBenchAccount(database);
  const ceiling = await measureNoOp(bench, shop, options);
  await using closing = new AsyncDisposableStack();
  const changes = new ChangeListener(database.settings, createLog('silent'));
  closing.defer(() => changes.close());
  const mint = new TokenMint(testKey);
  const store = new AccessTokenStore(database);
  const checker = new TokenChecker({ mint, store, changes, clock: systemClock });
  await changes.start();
  const first = await issueFirst(database, mint, shop);
  const tokens = [first, ...(await issueMore(database, mint, first, inUse - 1))];
  const results = [await measureChecks(checker, tokens, ceiling)];
  tokens.push(...(await issueMore(database, mint, first, allTokens - inUse)));
  return [...results, await measureChecks(checker, tokens, ceiling)];
}

/** @returns requests a second */
async function measureNoOp(
  bench: BenchDatabase,
  shop: Shop,
  { seconds, nodeOptions }: BenchOptions,
): Promise<number> {
  await using service = await startBenchService(bench, { nodeOptions });
  const wire = { token: 'none', accountIds: [shop.id], path: noOpPath, count: 1_000 };
  const tally = new LoadTally(service, { requests: wireRequests(wire) });
  await tally.run(seconds / 2);
  await tally.measure({ seconds });
  return tally.rate;
}

async function measureChecks(
  checker: TokenChecker,
  tokens: readonly Token[],
  ceiling: number,
): Promise<BenchResult> {
  // Tokens of the whole set first, so that memory can grow.
  const step = Math.max(1, Math.floor(tokens.length / 2_000));
  for (let index = 0; index < tokens.length; index += step) {
    const caller = await checker.check(tokens[index]?.text ?? '');
    if (caller === undefined) throw new Error('a live token was rejected');
  }
  const authenticator = new Authenticator(checker, { check: () => undefined });
  const hot = tokens.slice(0, inUse).map(({ text }) => `Bearer ${text}`);
  const times: number[] = [];
  while (times.length < rounds) {
    // On a starved machine the service bypasses its memory until it hears of revocations again.
    await waitFor('tokens to be in memory', async () => {
      for (const header of hot) {
        const answer = authenticator.authenticate(header);
        if (answer instanceof Promise) return answer.then(() => false);
      }
      return true;
    });
    const started = performance.now();
    let fromMemory = true;
    for (let count = 0; count < checksPerRound && fromMemory; count += 1)
      fromMemory = isFromMemory(authenticator.authenticate(hot[count % hot.length]));
    if (fromMemory) times.push((performance.now() - started) / checksPerRound);
    await endOfTurn();
  }
  const p50 = median(times);
  const heapMiB = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
  return makeResult(
    'token',
    { tokens: tokens.length, inUse, heapMiB },
    {
      rate: 1_000 / p50,
      ceiling,
      ratio: Number(((ceiling * p50) / 1_000).toFixed(4)),
      p50_ms: Number(p50.toFixed(6)),
      p99_ms: Number(Math.max(...times).toFixed(6)),
    },
  );
}

function isFromMemory(answer: ReturnType<Authenticator['authenticate']>): boolean {
  if (answer === undefined) throw new Error('a live token was rejected');
  if (!(answer instanceof Promise)) return true;
  answer.catch(() => undefined);
  return false;
}

async function issueFirst({ kysely }: Database, mint: TokenMint, shop: Shop): Promise<Token> {
  const first = mint.mint('access');
  await issueTokens(kysely, {
    personId: shop.owner.id,
    clientId: shop.integration.clientId,
    accountId: undefined,
    passwordHash: undefined,
    codeHash: undefined,
    accessHash: first.hash,
    refreshHash: mint.mint('refresh').hash,
  });
  return first;
}

async function issueMore(
  database: Database,
  mint: TokenMint,
  first: Token,
  count: number,
): Promise<Token[]> {
  const tokens = Array.from({ length: count }, () => mint.mint('access'));
  for (let from = 0; from < count; from += chunkSize)
    await copyRows(database, {
      table: 'access_token',
      where: sql`one.hash = ${first.hash}`,
      times: sql`unnest(${tokens.slice(from, from + chunkSize).map(({ hash }) => hash)}::bytea[])`,
      columns: { hash: sql`copy` },
    });
  return tokens;
}

import { sql } from 'kysely';
import { AccessTokenStore } from '../src/access/access-token-store.ts';
import { Authenticator } from '../src/access/authenticator.ts';
import { TokenChecker } from '../src/access/token-checker.ts';
import { type Token, TokenMint } from '../src/access/token-mint.ts';
import { ChangeListener } from '../src/foundation/change-listener.ts';
import { systemClock } from '../src/foundation/clock.ts';
import type { Database } from '../src/foundation/database/open-database.ts';
import { createLog } from '../src/foundation/log.ts';
import { MasterKey } from '../src/foundation/master-key.ts';
import { issueTokens } from '../src/session/issue-tokens-store.ts';
import type { Shop } from '../test/support/shop.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { copyRows } from './copy-rows.ts';
import { runLoad } from './run-load.ts';

const chunk = 20_000;
const rounds = 100;
const checksPerRound = 20_000;
/** Tokens that requests use at the time. */
const inUse = 10;

interface Scene {
  readonly database: Database;
  readonly mint: TokenMint;
  readonly shop: Shop;
  readonly checker: TokenChecker;
  readonly authenticator: Authenticator;
  /** A token that the product issued. */
  readonly first: Token;
}

/**
 * Checking an access token, with ten and with a million live ones: rate is checks a second from memory in one process,
 * ceiling the do-nothing POST of the same run; ratio is the share of such a request's time that a check takes.
 */
export async function benchToken(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { url, database } = bench;
  const changes = new ChangeListener(database.settings, createLog('silent'));
  await using closing = new AsyncDisposableStack();
  closing.defer(() => changes.close());
  const shop = await openBenchAccount(database);
  const ceiling = await measureNoOp(url, shop, options);
  const mint = new TokenMint(new MasterKey(Buffer.alloc(32, 7)));
  const store = new AccessTokenStore(database);
  const checker = new TokenChecker({ mint, store, changes, clock: systemClock });
  await changes.start();
  const authenticator = new Authenticator(checker, { check: () => undefined });
  const parts = { database, mint, shop, checker, authenticator };
  const scene = { ...parts, first: await issueFirst(parts) };
  const few = [scene.first, ...(await issueMore(scene, inUse - 1))];
  const results = [await measureChecks(scene, few, few.length, ceiling)];
  const many = await issueMore(scene, 1_000_000 - inUse);
  results.push(await measureChecks(scene, [...few, ...many], 1_000_000, ceiling));
  return results;
}

/** Requests a second that do nothing, at 128 connections. */
async function measureNoOp(url: string, shop: Shop, options: BenchOptions): Promise<number> {
  await using service = await startBenchService(url, { nodeOptions: options.nodeOptions });
  const requests = wireRequests({
    path: '/bench/nothing',
    accountIds: [shop.id],
    token: 'none',
    count: 1_000,
  });
  const order = { port: service.port, connections: 128, requests };
  await runLoad({ ...order, seconds: options.seconds / 2 });
  const report = await runLoad({ ...order, seconds: options.seconds });
  return report.answered / report.seconds;
}

/** Asks for tokens all over the million first, so that memory has had the chance to grow; then for those in use. */
async function measureChecks(
  { checker, authenticator }: Scene,
  all: readonly Token[],
  tokens: number,
  ceiling: number,
): Promise<BenchResult> {
  const step = Math.max(1, Math.floor(all.length / 2_000));
  for (let index = 0; index < all.length; index += step) {
    const caller = await checker.check(all[index]?.text ?? '');
    if (caller === undefined) throw new Error('a live token was refused');
  }
  const hot = all.slice(0, inUse).map((token) => `Bearer ${token.text}`);
  for (const header of hot) await authenticator.authenticate(header);
  const times: number[] = [];
  while (times.length < rounds) {
    // On a starved machine the service itself bypasses its memory until it hears of revocations again.
    await waitFor('tokens to be answered from memory', () => answersFromMemory(authenticator, hot));
    const before = performance.now();
    let fromMemory = true;
    for (let count = 0; count < checksPerRound && fromMemory; count += 1)
      fromMemory = isCaller(authenticator.authenticate(hot[count % hot.length]));
    if (fromMemory) times.push((performance.now() - before) / checksPerRound);
    await new Promise((resolve) => setImmediate(resolve));
  }
  times.sort((a, b) => a - b);
  const median = times[rounds / 2] ?? Number.NaN;
  const rate = 1_000 / median;
  return {
    name: 'token',
    params: { tokens, inUse, heapMiB: heap() },
    rate: Math.round(rate),
    ceiling: Math.round(ceiling),
    ratio: Number((ceiling / rate).toFixed(4)),
    p50_ms: Number(median.toFixed(6)),
    p99_ms: Number((times[rounds - 1] ?? 0).toFixed(6)),
  };
}

async function answersFromMemory(
  authenticator: Authenticator,
  headers: readonly string[],
): Promise<boolean> {
  for (const header of headers) {
    const answer = authenticator.authenticate(header);
    if (answer instanceof Promise) {
      await answer;
      return false;
    }
  }
  return true;
}

/** False where the database was asked. */
function isCaller(answer: ReturnType<Authenticator['authenticate']>): boolean {
  if (answer === undefined) throw new Error('a live token was refused');
  if (!(answer instanceof Promise)) return true;
  answer.catch(() => undefined);
  return false;
}

function heap(): number {
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}

async function issueFirst({ database, mint, shop }: Omit<Scene, 'first'>): Promise<Token> {
  const first = mint.mint('access');
  await issueTokens(database.kysely, {
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

/** Further tokens like the first. */
async function issueMore({ database, mint, first }: Scene, count: number): Promise<Token[]> {
  const tokens = Array.from({ length: count }, () => mint.mint('access'));
  for (let from = 0; from < count; from += chunk)
    await copyRows(database, {
      table: 'access_token',
      where: sql`one.hash = ${first.hash}`,
      times: sql`unnest(${tokens.slice(from, from + chunk).map(({ hash }) => hash)}::bytea[])`,
      columns: { hash: sql`copy` },
    });
  return tokens;
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as jsonOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId, MessageId } from '../../src/base/values/ids.ts';
import { webhookKinds } from '../../src/content/message/event-kinds.ts';
import { addEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { addKey } from '../../test/support/api-key.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { clientSecret, passwordFields, SessionWorld } from '../../test/support/session-world.ts';
import { openShop, publishShopTemplate } from '../../test/support/shop.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { testKey } from '../../test/support/test-service.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { distinctBody, openBenchAccount } from '../bench-account.ts';
import { startBenchDatabase } from '../bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from '../bench-result.ts';
import { type BenchService, startServe } from '../bench-service.ts';
import { BenchSink } from '../deliver/bench-sink.ts';
import { openImagePath } from '../feedback/bench-tracking.ts';
import { openClient } from '../http-client.ts';
import { LatencyHistogram } from '../latency-histogram.ts';
import { MemoryWatch, measureUse } from '../machine-use.ts';
import { attacks, runAttackers } from './attacks.ts';

const clients = 20;
const offeredPerSecond = 200;
/** Seconds that the attack begins before the sends. */
const leadSeconds = 2;
const tokensPerSecond = 2;
/** Of initial token requests, by person. */
const tokensPerPerson = 5;
/** The longest that webhooks of the account may take. */
const webhookSeconds = 5;
/** Endpoints of the attacker that never answer. */
const silentEndpoints = 5;

/** One account offers 200 sends a second, and asks for tokens, while twenty clients attack: none, all, and each attack alone. */
export async function benchHostile(options: BenchOptions): Promise<BenchResult[]> {
  const names = Object.keys(attacks);
  const cases: Readonly<Record<string, readonly string[]>> = { none: [], all: names };
  const results: BenchResult[] = [];
  for (const name of ['none', 'all', ...names])
    if (options.attack?.includes(name) ?? true)
      results.push(await measureCase(options, name, cases[name] ?? [name]));
  return results;
}

async function measureCase(
  { seconds, nodeOptions }: BenchOptions,
  attack: string,
  names: readonly string[],
): Promise<BenchResult> {
  await using bench = await startBenchDatabase();
  using sink = await BenchSink.start();
  const bouncePort = await freePort();
  await using node = await startServe(bench, {
    smtpUrl: sink.smtpUrl(10),
    nodeOptions,
    environment: {
      BOUNCE_PORT: String(bouncePort),
      BOUNCE_HOST: '127.0.0.1',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    },
  });
  const people = Math.ceil((seconds * tokensPerSecond) / tokensPerPerson);
  const attacked = await openHostileWorld(bench.database, node, bouncePort, people);
  const victimKey = await addKey(bench.database, attacked.victimId, sending);
  await using webhooks = await WebhookClock.open(bench.database, attacked);
  using memory = new MemoryWatch(node);
  const offer = (length: number) => offerSends(node.port, attacked.victimId, victimKey, length);
  await offer(2);
  // As autovacuum has left tables for all but the first minute of an installation.
  await bench.database.pool.query('vacuum analyze');
  memory.readAndReset();
  webhooks.delays.length = 0;
  const order = { target: attacked, clients, names, seconds: leadSeconds + seconds };
  const attacking = names.length > 0 ? runAttackers(order) : undefined;
  await delay(leadSeconds * 1_000);
  const tokens = askTokens(node.port, attacked, seconds);
  const { result, use } = await measureUse(node.pids, () => offer(seconds));
  const tokenStatuses = await tokens;
  const rounds = (await attacking) ?? {};
  const { answered, elapsedSeconds, statuses, latencies } = result;
  const offered = offeredPerSecond * seconds;
  const allRounds = Object.values(rounds).reduce((sum, count) => sum + count, 0);
  const rate = answered / elapsedSeconds;
  const percentiles = latencies.percentiles;
  const slowestWebhook = Math.max(0, ...webhooks.delays) / 1_000;
  const params = {
    attack,
    refused: offered - answered,
    ...(answered < offered && { statuses: formatStatuses(statuses) }),
    tokens: formatStatuses(tokenStatuses),
    webhooks: webhooks.delays.length,
    slowest_webhook_s: slowestWebhook,
    peak_mib: memory.readAndReset().peak,
    attacks_per_second: Math.round(allRounds / order.seconds),
    ...(allRounds > 0 && { attackers_got: formatStatuses(rounds) }),
    met: String(
      answered === offered &&
        webhooks.delays.length > 0 &&
        slowestWebhook < webhookSeconds &&
        Object.keys(tokenStatuses).join() === '200',
    ),
  };
  return makeResult('hostile', params, {
    ...{ rate, ceiling: offeredPerSecond, ratio: answered / offered, ...percentiles },
    elsewhere_percent: Math.round(use.elsewhere * 100),
  });
}

/** How long the victim's events take to arrive, beside endpoints of the attacker that never answer. */
class WebhookClock implements AsyncDisposable {
  /** Milliseconds from an event to its webhook. */
  readonly delays: number[] = [];
  readonly #prompt = createServer(async (request, response) => {
    const { timestamp } = (await jsonOf(request)) as { timestamp: string };
    this.delays.push(Date.now() - Date.parse(timestamp));
    response.end();
  });
  readonly #silent = createServer((request) => request.resume());

  static async open(
    database: Database,
    { victimId, accountId }: AttackTarget,
  ): Promise<WebhookClock> {
    const clock = new WebhookClock();
    const box = new SecretBox(testKey);
    for (const [id, server, count] of [
      [victimId, clock.#prompt, 1],
      [accountId, clock.#silent, silentEndpoints],
    ] as const) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      for (let number = 0; number < count; number += 1)
        await addEndpoint(database.kysely, box, id as AccountId, {
          url: `http://127.0.0.1:${port}/${number}`,
          kinds: webhookKinds,
          permissions: permissionsOf.owner,
        });
    }
    return clock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#prompt, this.#silent]) {
      server.closeAllConnections();
      server.close();
    }
  }
}

/** Sends as an account's own systems do. @returns the latency of every send from when it was due, including refused ones */
async function offerSends(port: number, accountId: string, apiKey: string, seconds: number) {
  const ask = openClient(port, { maxSockets: 128, timeoutMs: 10_000 });
  const path = `/ete/v1/email/${accountId}/t-0001`;
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  /** 0 counts connections that were closed, or silent for too long. */
  const statuses: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  const sends: Promise<void>[] = [];
  const start = performance.now();
  while (sends.length < offeredPerSecond * seconds) {
    const dueAt = start + (sends.length * 1_000) / offeredPerSecond;
    const wait = dueAt - performance.now();
    if (wait > 0) await delay(wait);
    const send = async (body: string): Promise<void> => {
      const { status } = await ask({ path, headers, body });
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.add(performance.now() - dueAt);
    };
    sends.push(send(distinctBody(sends.length)));
  }
  await Promise.all(sends);
  const elapsedSeconds = (performance.now() - start) / 1_000;
  return { answered: statuses['200'] ?? 0, elapsedSeconds, statuses, latencies };
}

/** Asks for tokens with the right client secret and passwords, as programs do when they start. @returns responses by status */
async function askTokens(
  port: number,
  { victimPeople, victimClientId }: AttackTarget,
  seconds: number,
): Promise<Readonly<Record<string, number>>> {
  const ask = openClient(port, { timeoutMs: 10_000 });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const statuses: Record<string, number> = {};
  for (let count = 0; count < seconds * tokensPerSecond; count += 1) {
    const email = victimPeople[count % victimPeople.length] ?? '';
    const fields = passwordFields({ email }, { clientId: victimClientId });
    const body = new URLSearchParams(fields).toString();
    const [{ status }] = await Promise.all([
      ask({ path: '/token', headers, body }),
      delay(1_000 / tokensPerSecond),
    ]);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

function formatStatuses(statuses: Readonly<Record<string, number>>): string {
  const counts = Object.entries(statuses);
  return counts.map(([status, count]) => `${status}:${count}`).join(',');
}

const sending = { scopes: ['messages:send'] } as const;

/** What the attackers know: an account of their own with expensive templates, and public addresses of the victim. */
export type AttackTarget = Awaited<ReturnType<typeof openHostileWorld>>;

async function openHostileWorld(
  database: Database,
  node: BenchService,
  bouncePort: number,
  people: number,
) {
  const victim = await openBenchAccount(database);
  const victimWorld = new SessionWorld(database, victim.id);
  const { clientId: victimClientId } = await victimWorld.addIntegration();
  const victimPeople: string[] = [];
  while (victimPeople.length < people) victimPeople.push((await victimWorld.addPerson()).email);
  const attacker = await openShop(database, { id: '46200' });
  const viewer = await new SessionWorld(database, attacker.id).addPerson({ accounts: [] });
  const members = { owner: attacker.owner.id, viewer: viewer.id } as const;
  for (const role of ['owner', 'viewer'] as const)
    await saveMembership(database.kysely, {
      accountId: attacker.id,
      personId: members[role],
      role,
    });
  const repeat = (count: number, make: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => make(at)).join('');
  for (const [id, html] of [
    ['t-sixty', repeat(60, (at) => `<p>{{Field ${at}}}</p>`)],
    ['t-many', repeat(990, (at) => `<p>{{Field ${at % 240}}}</p>`)],
    ['t-links', repeat(400, () => '<a href="{{Link}}?n={{Notes}}">x</a>')],
  ] as const)
    await publishShopTemplate(database, attacker, {
      id,
      sender: 'orders@shop.test',
      source: { subject: 'Subject', previewText: '', html, text: 'x', fields: {} },
    });
  const accountId = attacker.id;
  const apiKey = await addKey(database, accountId, sending);
  const sent = await new SendClient(node, apiKey).send({ account: accountId });
  if (sent.status !== 200) throw new Error(sent.text);
  const messageId = sent.body.messageId as MessageId;
  return {
    port: node.port,
    bouncePort,
    accountId,
    ownerCookie: await signIn(node, attacker.owner.email),
    viewerCookie: await signIn(node, viewer.email),
    apiKey,
    clientId: attacker.integration.clientId,
    clientSecret,
    returnPath: new ReturnPaths(testKey).make({ accountId, messageId, recipient: 0 }, 'b.test'),
    imagePath: openImagePath({ accountId, messageId, retentionDays: 90 }),
    victimId: victim.id,
    victimEmail: victim.owner.email,
    victimClientId,
    victimPeople,
  };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { webhookKinds } from '../../src/content/message/event-kinds.ts';
import { managementPrefix } from '../../src/operating/management/management-limits.ts';
import { addEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { addKey } from '../../test/support/api-key.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { testKey } from '../../test/support/test-service.ts';
import { waitForFollowers } from '../deliver/letter-account.ts';
import type { ChaosNode } from './chaos-node.ts';

/** One request of so many to a webhook gets a 503. */
const failedShare = 50;
const answerTimeoutMs = 20_000;
const pollMs = 500;

/** Reads the events of accounts as an application does: from a webhook, and from the event feed, which it continues at its cursor. */
export class ChaosEvents {
  /** Events that webhooks brought, with repeats. */
  readonly #pushed = new Set<string>();
  /** Events that the feed brought, with how often. */
  readonly #read = new Map<string, number>();
  readonly #server = createServer();
  readonly #nodes: readonly ChaosNode[];
  readonly #accountIds: readonly AccountId[];
  readonly #stopping = new AbortController();
  #loops: Promise<void>[] = [];
  #requests = 0;

  private constructor(nodes: readonly ChaosNode[], accountIds: readonly AccountId[]) {
    this.#nodes = nodes;
    this.#accountIds = accountIds;
    this.#server.on('request', async (request, response) => {
      const body = await text(request).catch(() => undefined);
      if (body === undefined) return;
      this.#requests += 1;
      const isFailed = this.#requests % failedShare === 0;
      if (!isFailed) this.#pushed.add(JSON.parse(body).data.eventId);
      response.writeHead(isFailed ? 503 : 200).end();
    });
  }

  static async open(
    database: Database,
    nodes: readonly ChaosNode[],
    accountIds: readonly AccountId[],
  ): Promise<ChaosEvents> {
    const events = new ChaosEvents(nodes, accountIds);
    events.#server.listen(0, '127.0.0.1');
    await once(events.#server, 'listening');
    const { port } = events.#server.address() as AddressInfo;
    for (const accountId of accountIds) {
      const url = `http://127.0.0.1:${port}/`;
      const endpoint = { url, kinds: webhookKinds, permissions: permissionsOf.owner };
      await addEndpoint(database.kysely, new SecretBox(testKey), accountId, endpoint);
      const apiKey = await addKey(database, accountId, { scopes: ['messages:read'] });
      events.#loops.push(events.#follow(accountId, apiKey));
    }
    return events;
  }

  /**
   * Waits until all events have arrived.
   * @param timeoutMs without any
   * @returns what is missing, and what the feed brought twice
   */
  async evaluate(database: Database, timeoutMs = 180_000) {
    await waitForFollowers(database);
    const stored = await this.#readStored(database);
    const pushed = stored.filter(({ kind }) => webhookKinds.some((known) => known === kind));
    const missing = () => ({
      notPushed: pushed.filter(({ id }) => !this.#pushed.has(id)),
      notRead: stored.filter(({ id }) => !this.#read.has(id)),
    });
    let deadline = Date.now() + timeoutMs;
    let { notPushed, notRead } = missing();
    let fewest = notPushed.length + notRead.length;
    while (notPushed.length + notRead.length > 0 && Date.now() < deadline) {
      this.#restartForManagement();
      // What failed, or was in the hands of a process that was killed, waits for minutes.
      await database.pool.query(
        `update webhook_delivery set due_at = least(due_at, now()), claimed_until = least(claimed_until, now() + interval '20 seconds')
         where state = 'pending' and (due_at > now() or claimed_until > now() + interval '20 seconds')`,
      );
      await delay(1_000);
      ({ notPushed, notRead } = missing());
      if (notPushed.length + notRead.length < fewest) {
        fewest = notPushed.length + notRead.length;
        deadline = Date.now() + timeoutMs;
      }
    }
    const repeated = [...this.#read.values()].filter((times) => times > 1).length;
    for (const { id, kind } of [...notPushed, ...notRead].slice(0, 10)) {
      const { rows } = await database.pool.query(
        `select d.state, d.due_at, d.claimed_until, d.orphaned, d.attempts, d.last_status, p.page, p.size
         from webhook_position p left join webhook_delivery d on d.account_id = p.account_id and d.event_id = $1`,
        [id],
      );
      process.stderr.write(`missed ${kind} ${id}: ${JSON.stringify(rows)}\n`);
    }
    return {
      stored: stored.length,
      /** Events that no webhook brought. */
      notPushed: notPushed.length,
      /** Events that the feed left out. */
      notRead: notRead.length,
      /** Events that the feed brought again after their cursor. */
      repeated,
      requests: this.#requests,
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Nodes change their roles when they start, so after the last fault none may have the one that the feed's reader needs. */
  #restartForManagement(): void {
    const areUp = this.#nodes.every(({ url }) => url !== undefined);
    if (areUp && !this.#nodes.some((node) => node.serves('management')))
      this.#nodes[0]?.signal('SIGTERM');
  }

  async #readStored({ pool }: Database): Promise<{ id: string; kind: string }[]> {
    const { rows } = await pool.query(
      `select id, 'accepted' as kind from message where account_id = any ($1)
       union all select id, kind from message_event where account_id = any ($1)`,
      [this.#accountIds],
    );
    return rows;
  }

  async #follow(accountId: AccountId, apiKey: string): Promise<void> {
    let cursor = '';
    while (!this.#stopping.signal.aborted) {
      const url = this.#nodes.find((node) => node.serves('management'))?.url;
      const query = new URLSearchParams({ limit: '500', ...(cursor !== '' && { after: cursor }) });
      const response =
        url &&
        (await sendRequest(`${url}${managementPrefix}/accounts/${accountId}/events?${query}`, {
          headers: { authorization: `Bearer ${apiKey}` },
          signal: AbortSignal.timeout(answerTimeoutMs),
        }).catch(() => undefined));
      if (response && response.status === 200) {
        const found = response.body as {
          items: { data: { eventId: string } }[];
          cursor: string;
          more: boolean;
        };
        for (const { data } of found.items)
          this.#read.set(data.eventId, (this.#read.get(data.eventId) ?? 0) + 1);
        cursor = found.cursor;
        if (found.more) continue;
      } else if (response && response.status < 500 && response.status !== 429)
        throw new Error(`the feed responded ${response.status}: ${response.text}`);
      await delay(pollMs);
    }
  }
}

import pg from 'pg';
import { awaitReplication } from '../../base/database/await-replication.ts';
import {
  booleanArray,
  bytesArray,
  intArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../base/database/binary-array.ts';
import {
  clientSettings,
  type DatabaseSettings,
  ignoreIdleErrors,
} from '../../base/database/open-database.ts';
import { ServiceClient } from '../../base/database/service-client.ts';
import { codeOf, isUniqueViolation } from '../../base/database/sqlstate.ts';
import { normalizeAddress } from '../../base/values/email-address.ts';
import { isTestClass } from '../../content/message/test-class.ts';
import {
  type AcceptOutcome,
  type AcceptRow,
  acceptedOutcome,
  keyTakenOutcome,
  rowWithCopies,
} from './accept-row.ts';
import {
  acceptStatements,
  deliverWhenDelayedBit,
  newUsageBit,
  trackClicksBit,
  trackOpensBit,
  transactionalBit,
} from './accept-statement-store.ts';

/** The statement was sent but its outcome is unknown: it may be committed, and the commit may be lost if a standby takes over. */
export class UnknownOutcome extends Error {
  override name = 'UnknownOutcome';
}

interface RefusedRow {
  readonly n: number;
  readonly address: string | null;
}

/** Timeouts: connecting, one lock, one statement, and any reply from the server. */
const connectTimeoutMs = 2_000;
const lockTimeoutMs = 1_000;
const statementTimeoutMs = 7_000;
const responseTimeoutMs = 8_000;

/** The function of PostgreSQL that warns if the wait for a standby is canceled; the statement then succeeds all the same. */
const waitForStandby = 'SyncRepWaitForLSN';

/** Stores accepted messages over a few dedicated connections with prepared statements. */
export class AcceptStore {
  readonly #pool: pg.Pool;
  /**
   * Idle connections kept outside the pool. The pool hands one out only after this event loop turn, but a batch is sent
   * before that (`endTurn`).
   */
  readonly #free: pg.PoolClient[] = [];
  /** Connections whose last commit may not have reached the standby. */
  readonly #unreplicated = new WeakSet<pg.PoolClient>();
  #closed = false;

  /** @param connections maximum; one per concurrent statement */
  constructor(settings: DatabaseSettings, connections: number) {
    const base = clientSettings(settings, 'signalpost accept');
    this.#pool = new pg.Pool({
      ...base,
      Client: ServiceClient,
      // Force a generic plan with index probes: a plan made while a table is empty must still work when it isn't.
      options: `${base.options ?? ''} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c lock_timeout=${lockTimeoutMs} -c statement_timeout=${statementTimeoutMs}`,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: responseTimeoutMs,
      max: connections,
      idleTimeoutMillis: 0,
    });
    ignoreIdleErrors(this.#pool);
    this.#pool.on('connect', (client) => {
      // An idle connection that breaks would fail its next batch.
      client.on('error', () => this.#discard(client));
      client.on('notice', ({ routine }) => {
        if (routine === waitForStandby) this.#unreplicated.add(client);
      });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const client of this.#free.splice(0)) client.release();
    await this.#pool.end();
  }

  /**
   * Stores rows in one commit and returns those that are suppressed or whose key is taken. If a connection is free, the
   * statement has been sent when this returns.
   * @param repeated rows may already be stored
   * @throws UnknownOutcome if the connection broke after the statement was sent
   */
  async insert(rows: readonly AcceptRow[], repeated = false): Promise<readonly AcceptOutcome[]> {
    try {
      return await this.#insert(rows, repeated);
    } catch (error) {
      if (repeated || !isKeyRace(error)) throw error;
      return this.#insert(rows, true);
    }
  }

  async #insert(rows: readonly AcceptRow[], repeated: boolean): Promise<readonly AcceptOutcome[]> {
    const { query, places } = toQuery(rows, repeated);
    const client = this.#free.pop() ?? (await this.#pool.connect());
    try {
      const refused = await this.#run<RefusedRow>(client, query);
      return toOutcomes(rows, refused.rows, places);
    } catch (error) {
      if (isServerError(error)) throw error;
      throw new UnknownOutcome('the connection broke while a batch was in progress', {
        cause: error,
      });
    }
  }

  /**
   * Whether a row is stored. Resolves with true only once its commit can't be lost.
   * @throws UnknownOutcome if that isn't known
   */
  async isStored(row: AcceptRow): Promise<boolean> {
    const client = this.#free.pop() ?? (await this.#pool.connect());
    const { rowCount } = await this.#run(client, {
      name: 'is-stored',
      text: `select ${awaitReplication} from message where account_id = $1 and id = $2 and retention_days = $3`,
      values: [row.accountId, row.id, row.retentionDays],
    });
    return rowCount === 1;
  }

  /**
   * Runs a statement, then frees the connection. A connection with any error is discarded.
   * @throws UnknownOutcome if its commit may not have reached the standby
   */
  async #run<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    query: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    try {
      const result = await client.query<Row>(query);
      if (this.#unreplicated.has(client))
        throw new UnknownOutcome('the wait for the standby was canceled');
      // Waiters queue at the pool.
      if (this.#closed || this.#pool.waitingCount > 0) client.release();
      else this.#free.push(client);
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #discard(client: pg.PoolClient): void {
    const index = this.#free.indexOf(client);
    if (index === -1) return;
    this.#free.splice(index, 1);
    client.release(true);
  }
}

/**
 * True if the server itself reported that the statement failed, so nothing changed. Shutdown errors (57P01 to 57P03)
 * don't count: they can arrive after a successful commit.
 */
function isServerError(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof pg.DatabaseError && code !== undefined && !code.startsWith('57P');
}

/** True if another node claimed a key after the statement had looked it up; nothing was stored. */
function isKeyRace(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    isUniqueViolation(error) &&
    error.table === 'idempotency_key'
  );
}

/** True if the content of an attachment isn't stored anymore: it wasn't flushed, and a failover lost it. Nothing was stored. */
export function isLostAttachment(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && codeOf(error) === '23502' && error.column === 'sha256'
  );
}

/** @param places of the refused rows among the given ones; undefined: they are the same */
function toOutcomes(
  rows: readonly AcceptRow[],
  refused: readonly RefusedRow[],
  places: readonly number[] | undefined,
): AcceptOutcome[] {
  const outcomes: AcceptOutcome[] = rows.map(() => acceptedOutcome);
  for (const { n, address } of refused) {
    const place = places?.[n - 1] ?? n - 1;
    const before = outcomes[place];
    if (address === null) outcomes[place] = keyTakenOutcome;
    else if (before?.kind === 'suppressed') {
      outcomes[place] = { kind: 'suppressed', addresses: [...before.addresses, address] };
    } else outcomes[place] = { kind: 'suppressed', addresses: [address] };
  }
  return outcomes;
}

/** A statement, and the place of each of its rows among the given ones if these have copies. */
interface AcceptQuery {
  readonly query: pg.QueryConfig;
  readonly places?: readonly number[];
}

function toQuery(rows: readonly AcceptRow[], repeated: boolean): AcceptQuery {
  if (repeated) return toFullQuery(rows, 'repeated');
  const isFull = rows.some(
    ({ timing, attachments, copies }) =>
      timing !== undefined || attachments !== undefined || copies !== undefined,
  );
  if (isFull) return toFullQuery(rows, 'full');
  if (rows.every((row) => row.key === undefined))
    return { query: { ...acceptStatements.plain, values: baseColumns(rows) } };
  return {
    query: { ...acceptStatements.keyed, values: [...baseColumns(rows), ...keyColumns(rows)] },
  };
}

/** Rows and their copies, one after another. */
function toFullQuery(given: readonly AcceptRow[], form: 'full' | 'repeated'): AcceptQuery {
  const rows: AcceptRow[] = [];
  const heads: number[] = [];
  const places: number[] = [];
  given.forEach((row, place) => {
    const head = rows.length + 1;
    for (const member of rowWithCopies(row)) {
      rows.push(member);
      heads.push(head);
      places.push(place);
    }
  });
  const values = [
    ...baseColumns(rows),
    ...keyColumns(rows),
    ...timingColumns(rows),
    ...attachmentColumns(rows),
    intArray(heads),
  ];
  return { query: { ...acceptStatements[form], values }, places };
}

function flagsOf(row: AcceptRow): number {
  return (
    (row.transactional ? transactionalBit : 0) |
    (row.trackOpens ? trackOpensBit : 0) |
    (row.trackClicks ? trackClicksBit : 0) |
    (row.deliverWhenDelayed ? deliverWhenDelayedBit : 0) |
    (row.newUsage ? newUsageBit : 0)
  );
}

function baseColumns(rows: readonly AcceptRow[]): Buffer[] {
  return [
    textArray(rows.map((row) => row.accountId)),
    uuidArray(rows.map((row) => row.id)),
    smallintArray(rows.map((row) => row.retentionDays)),
    textArray(rows.map((row) => row.templateId)),
    intArray(rows.map((row) => row.templateVersion)),
    intArray(rows.map(flagsOf)),
    textArray(rows.map((row) => row.externalId)),
    textArray(rows.map((row) => row.tag)),
    textArray(rows.map((row) => row.clientId)),
    intArray(rows.map((row) => row.lifetimeSeconds)),
    intArray(rows.map((row) => row.recipients.length)),
    textArray(
      rows.map((row) => row.content),
      'json',
    ),
    ...recipientColumns(rows),
  ];
}

function recipientColumns(rows: readonly AcceptRow[]): Buffer[] {
  const numbers: number[] = [];
  const accounts: string[] = [];
  const addresses: string[] = [];
  const transactional: boolean[] = [];
  rows.forEach((row, index) => {
    // Suppressions don't apply to test messages.
    if (isTestClass(row.retentionDays)) return;
    for (const recipient of row.recipients) {
      numbers.push(index + 1);
      accounts.push(row.accountId);
      addresses.push(normalizeAddress(recipient));
      transactional.push(row.transactional);
    }
  });
  return [
    intArray(numbers),
    textArray(accounts),
    textArray(addresses),
    booleanArray(transactional),
  ];
}

function timingColumns(rows: readonly AcceptRow[]): Buffer[] {
  return [
    textArray(rows.map((row) => row.timing?.sendAt?.toISOString())),
    textArray(rows.map((row) => row.timing?.deliverBefore?.toISOString())),
  ];
}

/** Nulls for rows without a key. */
function keyColumns(rows: readonly AcceptRow[]): Buffer[] {
  return [
    textArray(rows.map((row) => row.key?.text)),
    bytesArray(rows.map((row) => row.key?.requestHash)),
    // Addresses contain no spaces.
    textArray(rows.map((row) => (row.suppressed.length === 0 ? '' : row.suppressed.join(' ')))),
  ];
}

function attachmentColumns(rows: readonly AcceptRow[]): Buffer[] {
  const links = rows.flatMap((row, index) =>
    (row.attachments ?? []).map((sha256) => ({ row, n: index + 1, sha256 })),
  );
  return [
    intArray(links.map(({ n }) => n)),
    textArray(links.map(({ row }) => row.accountId)),
    uuidArray(links.map(({ row }) => row.id)),
    smallintArray(links.map(({ row }) => row.retentionDays)),
    bytesArray(links.map(({ sha256 }) => sha256)),
  ];
}

import pg from 'pg';
import {
  booleanArray,
  bytesArray,
  intArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../foundation/database/binary-array.ts';
import {
  clientSettings,
  type DatabaseSettings,
  ignoreIdleErrors,
} from '../foundation/database/open-database.ts';
import { ServiceClient } from '../foundation/database/service-client.ts';
import { codeOf, isUniqueViolation } from '../foundation/database/sqlstate.ts';
import { normalizeAddress } from '../foundation/email-address.ts';
import {
  type AcceptOutcome,
  type AcceptRow,
  acceptedOutcome,
  keyTakenOutcome,
} from './accept-row.ts';
import {
  acceptStatements,
  deliverWhenDelayedBit,
  newUsageBit,
  trackClicksBit,
  trackOpensBit,
  transactionalBit,
} from './accept-statement-store.ts';

/** The statement was sent and its outcome is not known: it may be committed. */
export class UnknownOutcome extends Error {
  override name = 'UnknownOutcome';
}

interface RefusedRow {
  readonly n: number;
  readonly address: string | null;
}

/** Waiting for the server: to connect, for one lock, for one statement, and for its answer when the server is silent. */
const connectTimeoutMs = 2_000;
const lockTimeoutMs = 1_000;
const statementTimeoutMs = 7_000;
const responseTimeoutMs = 8_000;

/** Stores accepted messages over a few connections of its own, each with the statements prepared. */
export class AcceptStore {
  readonly #pool: pg.Pool;
  /**
   * Connections without work, kept out of the pool: it hands out even a free one only after the work of this turn of the
   * event loop, and a batch goes out before that (`endTurn`).
   */
  readonly #free: pg.PoolClient[] = [];
  #closed = false;

  /** @param connections most of them: one for each statement that may be under way */
  constructor(settings: DatabaseSettings, connections: number) {
    const base = clientSettings(settings, 'signalpost accept');
    this.#pool = new pg.Pool({
      ...base,
      Client: ServiceClient,
      // One plan for all batches, and index probes in it: a plan made while a table was empty must do when it is not.
      options: `${base.options ?? ''} -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c lock_timeout=${lockTimeoutMs} -c statement_timeout=${statementTimeoutMs}`,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: responseTimeoutMs,
      max: connections,
      idleTimeoutMillis: 0,
    });
    ignoreIdleErrors(this.#pool);
    // One that breaks while it is free would fail the batch that is given to it.
    this.#pool.on('connect', (client) => client.on('error', () => this.#discard(client)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const client of this.#free.splice(0)) client.release();
    await this.#pool.end();
  }

  /**
   * Stores rows in one commit; those that are suppressed or whose key is taken are left out and said. Where a connection is
   * free, the statement is on its way when this returns.
   * @param repeated the rows may be stored already
   * @throws UnknownOutcome where the connection broke after the statement was sent
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
    const query = toQuery(rows, repeated);
    const client = this.#free.pop() ?? (await this.#pool.connect());
    try {
      const refused = await this.#run<RefusedRow>(client, query);
      return toOutcomes(rows, refused.rows);
    } catch (error) {
      if (isServerError(error)) throw error;
      throw new UnknownOutcome('the connection broke while a batch was under way', {
        cause: error,
      });
    }
  }

  /** True where the message is stored. */
  async isStored(row: AcceptRow): Promise<boolean> {
    const client = this.#free.pop() ?? (await this.#pool.connect());
    const { rowCount } = await this.#run(client, {
      name: 'is-stored',
      text: 'select from message where account_id = $1 and id = $2 and retention_days = $3',
      values: [row.accountId, row.id, row.retentionDays],
    });
    return rowCount === 1;
  }

  /** Runs a statement, after which the connection is free. One that failed in any way is not used again. */
  async #run<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    query: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    try {
      const result = await client.query<Row>(query);
      // Who waits for one waits at the pool.
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
 * True where the server itself said that the statement failed, and so changed nothing. Words about the end of the
 * server (57P01 to 57P03) can reach a client whose commit went through.
 */
function isServerError(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof pg.DatabaseError && code !== undefined && !code.startsWith('57P');
}

/** True where another node claimed a key after the statement had looked for it: nothing was stored. */
function isKeyRace(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    isUniqueViolation(error) &&
    error.table === 'idempotency_key'
  );
}

function toOutcomes(rows: readonly AcceptRow[], refused: readonly RefusedRow[]): AcceptOutcome[] {
  const outcomes: AcceptOutcome[] = rows.map(() => acceptedOutcome);
  for (const { n, address } of refused) {
    const before = outcomes[n - 1];
    if (address === null) outcomes[n - 1] = keyTakenOutcome;
    else if (before?.kind === 'suppressed') {
      outcomes[n - 1] = { kind: 'suppressed', addresses: [...before.addresses, address] };
    } else outcomes[n - 1] = { kind: 'suppressed', addresses: [address] };
  }
  return outcomes;
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

function toQuery(rows: readonly AcceptRow[], repeated: boolean): pg.QueryConfig {
  const values: unknown[] = [
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
  const keys = keyColumns(rows);
  if (keys === undefined) {
    return { ...(repeated ? acceptStatements.plainRepeated : acceptStatements.plain), values };
  }
  values.push(...keys);
  return { ...(repeated ? acceptStatements.keyedRepeated : acceptStatements.keyed), values };
}

function recipientColumns(rows: readonly AcceptRow[]): Buffer[] {
  const numbers: number[] = [];
  const accounts: string[] = [];
  const addresses: string[] = [];
  const transactional: boolean[] = [];
  rows.forEach((row, index) => {
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

function keyColumns(rows: readonly AcceptRow[]): Buffer[] | undefined {
  if (rows.every((row) => row.key === undefined)) return undefined;
  return [
    textArray(rows.map((row) => row.key?.text)),
    bytesArray(rows.map((row) => row.key?.requestHash)),
    // An address holds no space.
    textArray(rows.map((row) => (row.suppressed.length === 0 ? '' : row.suppressed.join(' ')))),
  ];
}

import type { TextRow } from '../../base/network/guarded-database.ts';
import type { PostgresClient } from '../../base/network/guarded-postgres.ts';
import { newId } from '../../base/values/ids.ts';

export type ReplicationStream = ReturnType<typeof replicationStream>;

/**
 * The ids of rows that are inserted into a table, in the order of their commits, by logical replication (PostgreSQL manual, logical
 * replication message formats). The slot is temporary: it ends with the connection, so that nothing that happens to this process
 * holds back WAL, and what a new one doesn't have is in the table.
 * @param table schema, relation and publication
 */
export function replicationStream(
  client: PostgresClient,
  table: TextRow,
  onId: (id: string) => void,
) {
  const slot = `signalpost_${newId().replaceAll('-', '')}`;
  let relation: { readonly oid: number; readonly idColumn: number } | undefined;
  let send: ((chunk: Buffer) => void) | undefined;
  /** The end of what was received. */
  let position = 0n;

  /**
   * Lets the server forget what was received, also of tables that aren't published, so that an idle table holds no WAL. Ids that
   * aren't read yet are in the table.
   */
  function acknowledge(): void {
    // Standby status update: written, flushed and applied up to a position; the time is ignored.
    const update = Buffer.alloc(34);
    update.write('r');
    for (const offset of [1, 9, 17]) update.writeBigUInt64BE(position, offset);
    send?.(update);
  }

  /** XLogData has a start, an end, a time and a change; a keepalive has an end, a time and whether it asks for a reply. */
  function receive(message: Buffer): void {
    const isKeepalive = message[0] === 0x6b;
    position = message.readBigUInt64BE(isKeepalive ? 1 : 9);
    if (!isKeepalive) readChange(message.subarray(25));
    else if (message[17] === 1) acknowledge();
  }

  function readChange(change: Buffer): void {
    const { number, text, value } = fieldsOf(change);
    const kind = number(1);
    const oid = number(4);
    if (kind === 0x52 && text() === table.schema && text() === table.relation) {
      const count = number(3) & 0xffff;
      const names = Array.from({ length: count }, () => {
        number(1);
        const name = text();
        number(4);
        number(4);
        return name;
      });
      relation = { oid, idColumn: names.indexOf('id') };
    } else if (kind === 0x49 && oid === relation?.oid) {
      // The kind of the tuple, and its number of columns.
      number(3);
      onId(value(relation.idColumn));
    }
  }

  return {
    slot,
    client,
    acknowledge,
    isStreaming: () => send !== undefined && client.isOpen(),
    /** Waits for the transactions in progress. @throws Error of the server, such as for a role that may not replicate */
    async start(): Promise<void> {
      const publication = table.publication?.replaceAll('"', '""').replaceAll("'", "''");
      // Unlike in SQL, the case of these keywords matters.
      const options = `proto_version '1', publication_names '"${publication}"'`;
      const statements = [
        `CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`,
        `START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${options})`,
      ];
      send = await client.stream(statements, (message) => {
        try {
          receive(message);
        } catch {
          // Not what the protocol says.
          client.close();
        }
      });
    },
  };
}

/** Reads the fields of a message one after another. Its functions throw a RangeError beyond the end. */
function fieldsOf(bytes: Buffer) {
  let at = 0;
  const number = (length: number): number => {
    at += length;
    return bytes.readUIntBE(at - length, length);
  };
  const text = (): string => {
    const start = at;
    at = bytes.indexOf(0, at) + 1;
    if (at === 0) throw new RangeError('a text without an end');
    return bytes.toString('utf8', start, at - 1);
  };
  /** The text of a column; those before it are read over. Others than texts, such as nulls, have no length. */
  const value = (column: number): string => {
    const length = number(1) === 0x74 ? number(4) : 0;
    at += length;
    return column === 0 ? bytes.toString('utf8', at - length, at) : value(column - 1);
  };
  return { number, text, value };
}

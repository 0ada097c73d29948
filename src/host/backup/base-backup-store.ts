import pg from 'pg';
import { trySessionLock } from '../../base/database/advisory-locks.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { ConnectionSettings } from '../embedded-database/database-password.ts';
import { parseLsn, segmentOfLsn } from './wal-archive.ts';

/** What PostgreSQL reports at the end of a base backup. */
export interface BaseBackupEnd {
  readonly timeline: number;
  /** The first and last segment that a restore needs. */
  readonly firstSegment: bigint;
  readonly lastSegment: bigint;
  readonly startLsn: string;
  readonly stopLsn: string;
  /** The content of `backup_label`, without which the copy looks like a crashed database. */
  readonly label: string;
}

/**
 * A base backup in progress (https://www.postgresql.org/docs/current/continuous-archiving.html). It ends with this
 * connection, however that ends: backup mode, lock and the slot that keeps the WAL belong to the session.
 */
export class BaseBackupSession {
  readonly #client: pg.Client;
  /** PostgreSQL's identifier of the database. */
  readonly system: string;
  /** The version of PostgreSQL. */
  readonly postgres: string;

  private constructor(client: pg.Client, system: string, postgres: string) {
    this.#client = client;
    this.system = system;
    this.postgres = postgres;
  }

  /** @throws OperatorError if another backup is running or the database can't be copied as one folder */
  static async open(admin: ConnectionSettings): Promise<BaseBackupSession> {
    const client = new pg.Client({ ...admin, application_name: 'signalpost backup' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<{
        system: string;
        postgres: string;
        spaces: number;
      }>(
        `select (select system_identifier::text from pg_control_system()) as system,
           current_setting('server_version') as postgres,
           (select count(*)::int from pg_tablespace where oid >= 16384) as spaces`,
      );
      const { system = '', postgres = '', spaces = 0 } = rows[0] ?? {};
      if (!(await trySessionLock(client, 'backup')))
        throw new OperatorError('Another backup is running. Wait until it has finished.');
      if (spaces > 0)
        throw new OperatorError(
          'The embedded database has tablespaces outside its folder, which backups don’t include. Move their tables to pg_default and drop them.',
        );
      return new BaseBackupSession(client, system, postgres);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Keeps all WAL from here on, and waits for a checkpoint. */
  async start(label: string): Promise<void> {
    await this.#client.query(
      `select pg_create_physical_replication_slot('signalpost_backup_' || pg_backend_pid(), true, true)`,
    );
    await this.#client.query('select pg_backup_start($1, fast => true)', [label]);
  }

  /** Ends the copy. Its WAL is complete in the WAL folder then, and kept until `close`. */
  async stop(): Promise<BaseBackupEnd> {
    const { rows } = await this.#client.query<{ lsn: string; label: string }>(
      'select lsn::text, labelfile as label from pg_backup_stop(wait_for_archive => false)',
    );
    const { lsn = '', label = '' } = rows[0] ?? {};
    const startLsn = /^START WAL LOCATION: (\S+)/m.exec(label)?.[1] ?? '';
    const timeline = Number(/^START TIMELINE: (\d+)/m.exec(label)?.[1]);
    return {
      timeline,
      firstSegment: segmentOfLsn(parseLsn(startLsn)),
      // The position is the end of the last record, which may be the start of the next segment.
      lastSegment: segmentOfLsn(parseLsn(lsn) - 1n),
      startLsn,
      stopLsn: lsn,
      label,
    };
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

import { type Static, type TObject, Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  optional,
  Text,
  Time,
  Whole,
} from '../../base/values/common-schemas.ts';

export const maxSourceUrlLength = 2_000;
/** A table, or a schema and a table, as the database's catalog spells them. Names with dots or quotes aren't supported. */
export const tableNamePattern = '^[^\\u0000-\\u001f."]{1,63}(?:\\.[^\\u0000-\\u001f."]{1,63})?$';
/** What a source sends unless its account chooses another rate, and the most that it can choose. */
export const defaultRowsPerSecond = 500;
export const maxRowsPerSecond = 5_000;

const tableName = { examples: ['email_outbox'], maxLength: 127, pattern: tableNamePattern };
const rate = { minimum: 1, maximum: maxRowsPerSecond };
const AfterAccept = Type.Enum(['keep', 'delete'], {
  description: 'What happens to accepted rows; failed ones stay. Default: keep.',
});

/** What people set of a source. What they omit stays, or has its default for a new one. */
export const sourceSettings = optional({
  table: Text(
    'Can have a schema: `shop.email_outbox`. Required for a new source, and fixed.',
    tableName,
  ),
  url: Text(
    'Where its database is: `postgres://user:password@host:5432/database`, or `mysql://`. The server needs TLS with a certificate for the host. Required for a new source; in a manifest, preferably an environment variable reference.',
    {
      examples: ['postgres://signalpost:password@db.shop.example/shop'],
      maxLength: maxSourceUrlLength,
    },
  ),
  answers: Nullable(Text('A second table, which gets the answers. Fixed.', tableName)),
  after: AfterAccept,
  rowsPerSecond: Whole(`Max rows sent per second. Default: ${defaultRowsPerSecond}.`, rate),
});

export type SourceSettings = Readonly<Static<TObject<typeof sourceSettings>>>;

const members = {
  id: Type.String(),
  dialect: Type.Enum(['postgres', 'mysql'], {
    description: 'Of its database; `mysql` is also MariaDB’s.',
  }),
  table: Type.String(),
  answers: Nullable(Text('The table that gets the answers; null: the table itself.')),
  after: AfterAccept,
  server: Text('Hosts, ports and database. Nothing shows the URL, which has a password.'),
  rowsPerSecond: Whole('Max rows sent per second.'),
  createdAt: Time('When it was created.'),
};

export const OutboxSourceView = NamedObject('OutboxSource', members);

export const ListedOutboxSourceView = NamedObject('ListedOutboxSource', {
  ...members,
  readAt: Nullable(Time('When its table was last read.')),
  lagSeconds: Whole('Seconds since no row was left to send. A few are normal.'),
  failingSince: Nullable(Time('Since when the table can’t be read.')),
  failure: Nullable(Text('Why, such as `COLUMN_MISSING` or `LOGIN_FAILED`.')),
  failureDetail: Nullable(Type.String()),
  reading: Nullable(
    Type.Enum(['replication', 'polling'], {
      description: 'How its rows are found; null before its table is read.',
    }),
  ),
  slotBytes: Nullable(
    Whole('Bytes of write-ahead log that its replication slot holds back; null without one.'),
  ),
  rowsLastMinute: Whole('Rows that were answered in about the last minute.'),
  failedRows: Type.Array(
    NamedObject('OutboxFailedRow', {
      id: Type.String(),
      errorName: Text('The error that the send operation would give.'),
      detail: Text('Its first detail. The row has all of them.'),
      at: Time('When it failed.'),
    }),
    { description: 'The latest rows that failed and weren’t accepted since, at most 20.' },
  ),
});

/** A source as people see it: without its URL, which has a password. */
export interface OutboxSource extends Readonly<Omit<Static<typeof OutboxSourceView>, 'createdAt'>> {
  readonly createdAt: Date;
}

/** How far a source is read. Times are in RFC 3339. */
export interface SourceState
  extends Readonly<
    Omit<Static<typeof ListedOutboxSourceView>, keyof typeof members | 'lagSeconds'>
  > {
  /** When no row was left to read; undefined: never. */
  readonly drainedAt?: string;
}

/** A row that can't be sent. Its table has the whole error. */
export type FailedRow = SourceState['failedRows'][number];

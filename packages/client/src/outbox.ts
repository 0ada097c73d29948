import { bodyOf, given, type Message } from './message.ts';
import type { TemplateId } from './templates.ts';

/** Runs a statement in the transaction of the caller. */
export type OutboxQuery<Result> = (sql: string, values: string[]) => PromiseLike<Result>;

/** An email for an outbox. Its row is what makes it unique, and no answer comes back that could have a link. */
export type OutboxMessage<Id extends TemplateId = TemplateId> = Omit<
  Message<Id>,
  'idempotencyKey' | 'statusToken'
>;

export interface OutboxOptions {
  /** The table, or a schema and the table, such as `shop.email_outbox`. Default: `email_outbox`. */
  readonly table?: string;
  /** Default: `postgres`. `mysql` is also MariaDB. */
  readonly dialect?: 'postgres' | 'mysql';
  /** How the function marks values. Default: `$1` for PostgreSQL, `?` for MySQL. Knex, for example, takes `?` for both. */
  readonly placeholders?: '$1' | '?';
}

/**
 * Inserts one email into the outbox of your database, a table that Signalpost reads. If the transaction that the statement runs in
 * commits, the email is sent, once; if it's rolled back, it isn't.
 * @param query runs a statement in your transaction, such as `(sql, values) => client.query(sql, values)`
 * @returns what `query` returns
 * @throws what `query` throws
 */
export async function insert<Id extends TemplateId, Result>(
  query: OutboxQuery<Result>,
  template: Id,
  message: OutboxMessage<Id>,
  options: OutboxOptions = {},
): Promise<Result> {
  const { table = 'email_outbox', dialect = 'postgres' } = options;
  const isPostgres = dialect === 'postgres';
  const placeholders = options.placeholders ?? (isPostgres ? '$1' : '?');
  const quote = isPostgres ? '"' : '`';
  const name = table
    .split('.')
    .map((part) => quote + part.replaceAll(quote, quote + quote) + quote)
    .join('.');
  const columns = columnsOf(template, message as Message);
  const marks = columns.map(([, , type], index) => {
    const mark = placeholders === '?' ? '?' : `$${index + 1}`;
    // As text first, because drivers would encode a parameter of the type jsonb a second time.
    if (isPostgres) return type === 'text' ? mark : `${mark}::text::${type}`;
    // The time zone of the session doesn't matter.
    return type === 'timestamptz' ? `from_unixtime(cast(${mark} as decimal(16, 3)))` : mark;
  });
  return await query(
    `insert into ${name} (${columns.map(([column]) => column).join(', ')}) values (${marks.join(', ')})`,
    columns.map(([, value, type]) =>
      isPostgres || type !== 'timestamptz' ? value : String(Date.parse(value) / 1_000),
    ),
  );
}

type Column = readonly [name: string, value: string, type: 'text' | 'jsonb' | 'timestamptz'];

/** The columns that have a value. `options` is the body of the send without what has a column of its own. */
function columnsOf(template: string, message: Message): Column[] {
  const body = bodyOf(message) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const { toAddress, ...envelope } = body.envelope ?? {};
  const { personalizationDataMap: data, ...content } = body.content ?? {};
  const { sendAt, trackOpens, trackClicks, ...actions } = body.actions ?? {};
  const members = {
    envelope,
    content,
    metadata: body.metadata ?? {},
    // A row that says nothing about it isn't tracked.
    actions: given({
      ...actions,
      trackOpens: trackOpens || undefined,
      trackClicks: trackClicks || undefined,
    }),
  };
  const options = Object.entries(members).filter(([, part]) => Object.keys(part).length > 0);
  return [
    ['template', template, 'text'],
    ['to_address', String(toAddress), 'text'],
    ...(data === undefined ? [] : [['data', JSON.stringify(data), 'jsonb'] as const]),
    ...(options.length === 0
      ? []
      : [['options', JSON.stringify(Object.fromEntries(options)), 'jsonb'] as const]),
    ...(sendAt === undefined
      ? []
      : [['send_at', new Date(String(sendAt)).toISOString(), 'timestamptz'] as const]),
  ];
}

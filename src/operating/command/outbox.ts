import { DnsClient } from '../../base/dns/dns-client.ts';
import { chooseDnsServers } from '../../base/dns/dns-server.ts';
import { HostNames } from '../../base/dns/host-names.ts';
import { PublicNetworks } from '../../base/network/public-networks.ts';
import { systemClock } from '../../base/values/clock.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type AccountId, isPublicId } from '../../base/values/ids.ts';
import { describeFailure } from '../../outbox/reader/describe-failure.ts';
import { openTable } from '../../outbox/reader/open-table.ts';
import { constraintChanges, outboxSchemaSql } from '../../outbox/source/outbox-schema-sql.ts';
import {
  listSources,
  maxRetryIds,
  type OutboxSource,
  openSource,
  outboxSourceOf,
  readTemplateNeeds,
  removeSource,
  retryOf,
  saveSource,
  type TemplateNeeds,
} from '../../outbox/source/outbox-source-store.ts';
import {
  maxSourceUrlLength,
  parseSourceUrl,
  tableNamePattern,
} from '../../outbox/source/source-url.ts';
import { commandLine } from '../change/actor.ts';
import { changeResource, dropResource, ResourceNotFound } from '../change/change-resource.ts';
import { type AccountContext, onAccount } from './open-running.ts';
import { type CommandShell, print, printResult, printTable } from './shell.ts';

interface AddOptions extends Pick<OutboxSource, 'after'> {
  readonly table: string;
  readonly answers?: string;
  readonly rate: number;
}

interface SchemaOptions extends Pick<OutboxSource, 'dialect'> {
  readonly table: string;
  readonly answers?: string;
  /** A source. */
  readonly check?: string;
}

/** `outbox list|add|remove|schema`: tables of an account's own database whose rows are sent. */
export const outboxCommands = {
  list: onAccount(() => async ({ shell, database, accountId }) => {
    printTable(shell, await listSources(database.kysely, accountId), [
      ['source', ({ id }) => id],
      ['table', ({ table }) => table],
      ['server', ({ server }) => server],
      ['lag', ({ lagSeconds }) => `${lagSeconds} s`],
      [
        'failure',
        ({ failure, failureDetail }) =>
          failure === null ? undefined : `${failure}: ${failureDetail}`,
      ],
    ]);
  }),
  add: onAccount((id: string, options: AddOptions) => {
    if (!isPublicId(id))
      throw new OperatorError(`"${id}" is not a valid ID: use 1 to 64 letters, digits, - and _.`);
    const table = readTable(options.table, '--table');
    return async ({ shell, config, database, key, accountId }) => {
      const url = await readLine(shell);
      const parsed = parseSourceUrl(url, new PublicNetworks(config.outboxNetworks));
      if ('reason' in parsed)
        throw new OperatorError(`The URL on standard input ${parsed.reason}.`);
      const masterKey = await key();
      const { rate: rowsPerSecond, after } = options;
      const answers = options.answers && readTable(options.answers, '--answers');
      const settings = { table, answers, after, database: parsed, rowsPerSecond };
      const { after: saved } = await changeResource({ database }, commandLine(accountId), {
        ...outboxSourceOf(accountId, id),
        writeOnly: ['url'],
        async write(transaction) {
          const refusal = await saveSource(transaction, masterKey, accountId, id, settings);
          if (refusal !== undefined)
            throw new OperatorError(`--${refusal.field} ${refusal.reason}.`);
        },
      });
      printResult(shell, `${id} sends the rows of ${table} in ${parsed.shown}.`, saved);
    };
  }),
  retry: onAccount((id: string, rows: readonly string[]) => async (context) => {
    const { shell, database, accountId } = context;
    if (rows.length > maxRetryIds)
      throw new OperatorError(`Name at most ${maxRetryIds} rows, or none to retry all.`);
    await changeResource({ database }, commandLine(accountId), retryOf(accountId, id, rows)).catch(
      notFound(accountId, id),
    );
    printResult(shell, 'Its reader sends them again within seconds.', { id, rows });
  }),
  remove: onAccount((id: string) => async ({ shell, database, accountId }) => {
    await dropResource({ database }, commandLine(accountId), {
      ...outboxSourceOf(accountId, id),
      write: (transaction) => removeSource(transaction, accountId, id),
    }).catch(notFound(accountId, id));
    printResult(shell, `Removed ${id}. Its table stays.`, { id, removed: true });
  }),
  async schema(shell: CommandShell, account: string | undefined, options: SchemaOptions) {
    const tables = {
      dialect: options.dialect,
      table: readTable(options.table, '--table'),
      answers: options.answers === undefined ? null : readTable(options.answers, '--answers'),
    };
    const show = (sql: string): void => {
      if (shell.json === true) print(shell, JSON.stringify({ sql }));
      else shell.out(sql);
    };
    if (account === undefined) return show(outboxSchemaSql(tables));
    const withTemplates = onAccount(() => async (context) => {
      const templates = await readTemplateNeeds(context.database.kysely, context.accountId);
      if (options.check === undefined) return show(outboxSchemaSql(tables, templates));
      const changes = await checkConstraints(context, options.check, templates);
      show(changes.map((change) => `${change}\n`).join(''));
      return changes.length === 0 ? 0 : 1;
    });
    return withTemplates(shell, account);
  },
};

/** The statements that make the constraints of a source's table fit the templates. */
async function checkConstraints(
  { config, database, key, accountId }: AccountContext,
  id: string,
  templates: readonly TemplateNeeds[],
): Promise<string[]> {
  const source = await openSource(database.kysely, await key(), accountId, id);
  if (source === undefined) return notFound(accountId, id)(new ResourceNotFound(''));
  const dns = new DnsClient(chooseDnsServers(config.dnsServers));
  const { table } = await openTable(source, {
    networks: new PublicNetworks(config.outboxNetworks),
    hostNames: new HostNames(dns, systemClock),
  }).catch((error: unknown) => {
    throw new OperatorError(`Can’t read ${id}: ${describeFailure(error).detail}.`);
  });
  try {
    return constraintChanges(source, templates, await table.constraints());
  } finally {
    table.client.close();
  }
}

function notFound(accountId: AccountId, id: string) {
  return (error: unknown): never => {
    if (!(error instanceof ResourceNotFound)) throw error;
    throw new OperatorError(`The account ${accountId} has no outbox ${id}.`);
  };
}

/** @throws OperatorError if it isn't the name of a table */
function readTable(text: string, option: string): string {
  if (new RegExp(tableNamePattern, 'u').test(text)) return text;
  throw new OperatorError(`${option} must be a name such as email_outbox or shop.email_outbox.`);
}

/** What standard input has, so that a password is in no list of processes. */
async function readLine(shell: CommandShell): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of shell.in) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxSourceUrlLength + 2) break;
  }
  return Buffer.concat(chunks).toString().trim();
}

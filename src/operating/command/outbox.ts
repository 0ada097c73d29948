import { DnsClient } from '../../base/dns/dns-client.ts';
import { chooseDnsServers } from '../../base/dns/dns-server.ts';
import { HostNames } from '../../base/dns/host-names.ts';
import { systemClock } from '../../base/values/clock.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { isPublicId } from '../../base/values/ids.ts';
import { describeFailure } from '../../outbox/reader/describe-failure.ts';
import { openTable } from '../../outbox/reader/open-table.ts';
import { constraintChanges, outboxSchemaSql } from '../../outbox/source/outbox-schema-sql.ts';
import {
  listSources,
  maxRetryIds,
  openSource,
  readTemplateNeeds,
  sourceOf,
  type TemplateNeeds,
} from '../../outbox/source/outbox-source-store.ts';
import {
  maxSourceUrlLength,
  type OutboxSource,
  tableNamePattern,
} from '../../outbox/source/source-schemas.ts';
import { commandLine } from '../change/actor.ts';
import { changeResource, dropResource } from '../change/change-resource.ts';
import { applyEntry } from '../manifest/apply-manifest.ts';
import { readStandardInput } from '../manifest/manifest-files.ts';
import { ManifestError } from '../manifest/manifest-problems.ts';
import { outboxSection } from '../manifest/resource-sections.ts';
import { type AccountContext, onAccount } from './open-running.ts';
import { notInAccount, orNotInAccount } from './read-account.ts';
import { type CommandShell, print, printResult, printTable } from './shell.ts';

interface TableOptions {
  readonly table: string;
  readonly answers?: string;
}

interface AddOptions extends TableOptions, Pick<OutboxSource, 'after'> {
  readonly rate: number;
}

interface SchemaOptions extends TableOptions, Pick<OutboxSource, 'dialect'> {
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
      ['failure', ({ failure, failureDetail }) => failure && `${failure}: ${failureDetail}`],
    ]);
  }),
  add: onAccount((id: string, given: AddOptions) => {
    if (!isPublicId(id))
      throw new OperatorError(`"${id}" is not a valid ID: use 1 to 64 letters, digits, - and _.`);
    const { rate: rowsPerSecond, ...settings } = given;
    checkTables(settings);
    return async (context) => {
      const { shell, config, accountId } = context;
      const url = await readStandardInput(shell.in, maxSourceUrlLength + 2);
      const entry = { ...settings, id, url: typeof url === 'string' ? url : '', rowsPerSecond };
      const options = { outboxNetworks: config.outboxNetworks };
      const scope = { key: await context.key(), accountId, options };
      const source = sourceOf(accountId, id);
      const { after: saved } = await changeResource(context, commandLine(accountId), {
        ...source.resource,
        writeOnly: ['url'],
        async write(transaction) {
          await applyEntry(outboxSection, entry, { ...scope, transaction }).catch(throwAsOption);
          await source.announce(transaction);
        },
      });
      printResult(shell, `${id} sends the rows of ${saved.table} in ${saved.server}.`, saved);
    };
  }),
  retry: onAccount((id: string, rows: readonly string[]) => async (context) => {
    const { shell, accountId } = context;
    if (rows.length > maxRetryIds)
      throw new OperatorError(`Name at most ${maxRetryIds} rows, or none to retry all.`);
    const retry = sourceOf(accountId, id).retry(rows);
    const change = changeResource(context, commandLine(accountId), retry);
    await change.catch(orNotInAccount(accountId, `outbox ${id}`));
    printResult(shell, 'Its reader sends them again within seconds.', { id, rows });
  }),
  remove: onAccount((id: string) => async (context) => {
    const { shell, accountId } = context;
    const { resource, remove: write } = sourceOf(accountId, id);
    const change = dropResource(context, commandLine(accountId), { ...resource, write });
    await change.catch(orNotInAccount(accountId, `outbox ${id}`));
    printResult(shell, `Removed ${id}. Its table stays.`, { id, removed: true });
  }),
  async schema(shell: CommandShell, account: string | undefined, options: SchemaOptions) {
    checkTables(options);
    const tables = { ...options, answers: options.answers ?? null };
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
  if (source === undefined) throw notInAccount(accountId, `outbox ${id}`);
  const dns = new DnsClient(chooseDnsServers(config.dnsServers));
  const hostNames = new HostNames(dns, systemClock);
  const opened = openTable(source, { networks: config.outboxNetworks, hostNames });
  const { table, client } = await opened.catch((error: unknown) => {
    throw new OperatorError(`Can’t read ${id}: ${describeFailure(error).detail}.`);
  });
  try {
    return constraintChanges(source, templates, await table.constraints());
  } finally {
    client.close();
  }
}

/** @throws OperatorError that names the option because of which a source can't be saved */
function throwAsOption(error: unknown): never {
  const [problem] = error instanceof ManifestError ? error.problems : [];
  if (problem === undefined) throw error;
  const { path, message } = problem;
  const option = path === 'url' ? 'The URL on standard input' : `--${path}`;
  throw new OperatorError(`${option} ${message}.`);
}

/** @throws OperatorError if one isn't the name of a table */
function checkTables({ table, answers = table }: TableOptions): void {
  for (const [option, name] of Object.entries({ table, answers }))
    if (!new RegExp(tableNamePattern, 'u').test(name))
      throw new OperatorError(
        `--${option} must be a name such as email_outbox or shop.email_outbox.`,
      );
}

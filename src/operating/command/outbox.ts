import { PublicNetworks } from '../../base/network/public-networks.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { isPublicId } from '../../base/values/ids.ts';
import { outboxSchemaSql } from '../../outbox/source/outbox-schema-sql.ts';
import {
  listSources,
  outboxSourceOf,
  removeSource,
  saveSource,
} from '../../outbox/source/outbox-source-store.ts';
import {
  maxSourceUrlLength,
  parseSourceUrl,
  tableNamePattern,
} from '../../outbox/source/source-url.ts';
import { commandLine } from '../change/actor.ts';
import { changeResource, dropResource, ResourceNotFound } from '../change/change-resource.ts';
import { onAccount } from './open-running.ts';
import { type CommandShell, print, printResult, printTable } from './shell.ts';

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
  add: onAccount((id: string, options: { readonly table: string; readonly rate: number }) => {
    if (!isPublicId(id))
      throw new OperatorError(`"${id}" is not a valid ID: use 1 to 64 letters, digits, - and _.`);
    const table = readTable(options.table);
    return async ({ shell, config, database, key, accountId }) => {
      const url = await readLine(shell);
      const parsed = parseSourceUrl(url, new PublicNetworks(config.outboxNetworks));
      if ('reason' in parsed)
        throw new OperatorError(`The URL on standard input ${parsed.reason}.`);
      const masterKey = await key();
      const settings = { table, database: parsed, rowsPerSecond: options.rate };
      const { after } = await changeResource({ database }, commandLine(accountId), {
        ...outboxSourceOf(accountId, id),
        writeOnly: ['url'],
        async write(transaction) {
          const refusal = await saveSource(transaction, masterKey, accountId, id, settings);
          if (refusal !== undefined)
            throw new OperatorError(`--${refusal.field} ${refusal.reason}.`);
        },
      });
      printResult(shell, `${id} sends the rows of ${table} in ${parsed.shown}.`, after);
    };
  }),
  remove: onAccount((id: string) => async ({ shell, database, accountId }) => {
    await dropResource({ database }, commandLine(accountId), {
      ...outboxSourceOf(accountId, id),
      write: (transaction) => removeSource(transaction, accountId, id),
    }).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFound)) throw error;
      throw new OperatorError(`The account ${accountId} has no outbox ${id}.`);
    });
    printResult(shell, `Removed ${id}. Its table stays.`, { id, removed: true });
  }),
  async schema(shell: CommandShell, options: { readonly table: string }): Promise<void> {
    const sql = outboxSchemaSql(readTable(options.table));
    if (shell.json === true) print(shell, JSON.stringify({ sql }));
    else shell.out(sql);
  },
};

/** @throws OperatorError if it isn't the name of a table */
function readTable(text: string): string {
  if (new RegExp(tableNamePattern, 'u').test(text)) return text;
  throw new OperatorError('--table must be a name such as email_outbox or shop.email_outbox.');
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

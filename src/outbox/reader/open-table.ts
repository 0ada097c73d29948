import type { HostNames } from '../../base/dns/host-names.ts';
import type { GuardedClient } from '../../base/network/guarded-database.ts';
import { connectToMysql } from '../../base/network/guarded-mysql.ts';
import { connectToPostgres } from '../../base/network/guarded-postgres.ts';
import { allowedAddresses } from '../../base/network/guarded-request.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import type { OpenSource } from '../source/outbox-source-store.ts';
import { parseSourceUrl } from '../source/source-url.ts';
import { TableProblem } from './describe-failure.ts';
import { maxAnswerBytes, outboxTable } from './outbox-table-store.ts';

export interface OpenTableDependencies {
  readonly networks: PublicNetworks;
  readonly hostNames: HostNames;
}

/**
 * Connects to the server of a source that can be written to: the primary, also after a failover.
 * @param onNews called with each notification, and once a connection is closed
 * @returns the table, and a function that connects to the same server for replication
 * @throws TableProblem URL_NOT_ALLOWED or READ_ONLY, or an Error of the last server that was tried
 */
export async function openTable(
  source: OpenSource,
  { networks, hostNames }: OpenTableDependencies,
  onNews?: () => void,
) {
  const parsed = parseSourceUrl(source.url, networks);
  if ('reason' in parsed) throw new TableProblem('URL_NOT_ALLOWED', `the URL ${parsed.reason}`);
  const connect = source.dialect === 'postgres' ? connectToPostgres : connectToMysql;
  const options = { applicationName: 'signalpost outbox', maxAnswerBytes, onNews };
  let failure: unknown;
  for (const server of parsed.servers) {
    let client: GuardedClient | undefined;
    try {
      const { host, tls } = server;
      const [{ address }] = await allowedAddresses(host, hostNames, (each) =>
        tls ? networks.allows(each) : networks.isTrusted(each),
      );
      client = await connect(server, address, options);
      const table = outboxTable(client, source);
      await table.start(host);
      const replicate = () => connectToPostgres(server, address, { ...options, replication: true });
      return { table, client, source, replicate };
    } catch (error) {
      client?.close();
      failure = error;
    }
  }
  throw failure;
}

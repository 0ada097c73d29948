import { join } from 'node:path';

/** The folder of Debian's PostgreSQL 15. */
export const postgresFolder = '/usr/lib/postgresql/15/bin';

interface MemberPlace {
  readonly name: string;
  /** The member's folder. */
  readonly home: string;
  /** Where PostgreSQL and Patroni's API listen. */
  readonly port: number;
  readonly apiPort: number;
  /** Host and port where others reach PostgreSQL and Patroni's API, and where the member reaches etcd. */
  readonly postgres: string;
  readonly api: string;
  readonly etcd: string;
  readonly synchronous: boolean;
  readonly parameters?: ServerParameters | undefined;
}

/** Of PostgreSQL, beside the cluster's own. */
export type ServerParameters = Readonly<Record<string, string>>;

/** What the members share. @param synchronous as docs/operate/high-availability.md recommends */
export function clusterSettings(synchronous: boolean, parameters: ServerParameters = {}) {
  return {
    ttl: 20,
    loop_wait: 1,
    retry_timeout: 5,
    primary_start_timeout: 0,
    synchronous_mode: synchronous,
    synchronous_mode_strict: synchronous,
    synchronous_node_count: 1,
    postgresql: {
      use_pg_rewind: true,
      // A new primary creates slots in its next loop, and standbys wait for them.
      use_slots: false,
      parameters: {
        max_connections: 200,
        wal_sender_timeout: '5s',
        wal_receiver_timeout: '5s',
        wal_retrieve_retry_interval: '250ms',
        wal_keep_size: '1GB',
        ...parameters,
      },
    },
  };
}

/** The configuration of a member on this machine. */
export function configureMember(place: MemberPlace) {
  const { name, home, port, apiPort, postgres, api, etcd, synchronous, parameters } = place;
  return {
    scope: 'signalpost',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: api },
    // The API of etcd 2: with that of etcd 3, a primary of Patroni 3.0.2 that woke up after its successor's promotion took the
    // lock from it. The gate is the only way to etcd, so members must not learn etcd's own address.
    etcd: { hosts: [etcd], use_proxies: true },
    bootstrap: {
      dcs: clusterSettings(synchronous, parameters),
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: postgres,
      data_dir: join(home, 'data'),
      bin_dir: postgresFolder,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
        rewind: { username: 'postgres' },
      },
      parameters: { unix_socket_directories: home },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}

/** How to reach the embedded database; fits `pg.Pool` and `pg.Client`. */
export type ConnectionSettings = {
  /** The folder of the Unix socket, or the loopback address where there are no such sockets. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/** The superuser that initdb makes: administers the cluster, and the service never runs with it. */
export const ADMIN_ROLE = 'signalpost';

/** The role that the service runs with: owns its database and nothing else. */
export const SERVICE_ROLE = 'signalpost_service';

/** The database that every new PostgreSQL has. */
export const DATABASE_NAME = 'postgres';

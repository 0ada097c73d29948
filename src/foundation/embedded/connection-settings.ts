/** How to reach the embedded database; fits `pg.Pool` and `pg.Client`. */
export type ConnectionSettings = {
  /** The folder of the Unix socket, or the loopback address where there are no such sockets. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/** The one user of the embedded database. */
export const DATABASE_USER_NAME = 'signalpost';

/** The database that every new PostgreSQL has. */
export const DATABASE_NAME = 'postgres';

/** Connection settings of the embedded database, for `pg.Pool` and `pg.Client`. */
export type ConnectionSettings = {
  /** The folder of the Unix socket, or the loopback address if sockets are not supported. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/** The superuser created by initdb: administers the cluster; the service never uses it. */
export const ADMIN_ROLE = 'signalpost';

/** The role that the service uses: owns its database and nothing else. */
export const SERVICE_ROLE = 'signalpost_service';

/** The database that exists in every new cluster. */
export const DATABASE_NAME = 'postgres';

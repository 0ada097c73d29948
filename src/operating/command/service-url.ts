import { resolve } from 'node:path';
import { dataFolderAt } from '../../host/embedded-database/data-folder.ts';
import { readServiceInfo } from '../../host/embedded-database/service-lock.ts';
import type { Config } from '../config/config.ts';
import { localUrl } from './listen.ts';

/** Where people reach the running service: PUBLIC_URL, or its listening address as seen from this machine. */
export function serviceUrl(config: Config): string {
  return config.publicUrl ?? localServiceUrl(config);
}

/** The listening address of the service on this machine. */
export function localServiceUrl(config: Config): string {
  const info =
    config.databaseUrl === undefined
      ? readServiceInfo(dataFolderAt(resolve(config.dataDir)))
      : undefined;
  return info?.url ?? localUrl(config);
}

import type { Config } from '../config/config.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { ensureInboxToken } from '../manifest/demo-environment.ts';

/**
 * Adds INBOX_TOKEN to the configuration: the setting, or the token stored in the data folder, generated on the first
 * start with an inbox.
 */
export async function withInboxToken(config: Config, log: Log): Promise<Config> {
  if (config.delivery !== 'inbox' || config.inboxToken !== undefined) return config;
  try {
    return { ...config, inboxToken: await ensureInboxToken(config.dataDir) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    // The service works without it; only programs can't read the inbox.
    log.warn({ err: error }, 'programs can’t read the inbox: set INBOX_TOKEN');
    return config;
  }
}

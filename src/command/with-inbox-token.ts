import type { Config } from '../config/config.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { ensureInboxToken } from '../manifest/demo-environment.ts';

/** The configuration with INBOX_TOKEN, or with the token that this data folder keeps; it is made where mail is captured first. */
export async function withInboxToken(config: Config, log: Log): Promise<Config> {
  if (config.delivery !== 'inbox' || config.inboxToken !== undefined) return config;
  try {
    return { ...config, inboxToken: await ensureInboxToken(config.dataDir) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    // The service works without it; only programs that read the inbox don't.
    log.warn({ err: error }, 'programs cannot read the inbox: set INBOX_TOKEN');
    return config;
  }
}

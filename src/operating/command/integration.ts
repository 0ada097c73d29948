import { randomBytes } from 'node:crypto';
import { ClientSecretHasher } from '../../accounts/oauth/authenticate-client.ts';
import {
  changeIntegration,
  type IntegrationOverview,
  type IntegrationSettings,
  maxAllowance,
  readAllowanceUsage,
  readIntegrationOverviews,
  rotateClientSecret,
} from '../../accounts/oauth/integration-control-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { parseDuration } from '../../base/values/duration.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type ClientId, parseClientId } from '../../base/values/ids.ts';
import { runChange } from '../change/change-resource.ts';
import { onInstallation } from './open-running.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import { recordCommand } from './record-command.ts';
import { printResult, printTable } from './shell.ts';

interface IntegrationOptions {
  readonly disabled?: string;
  readonly pkce?: string;
  readonly allowance?: string;
}

export const integrationCommands = {
  /** `integration list [ACCOUNT]`: the integrations of an account, or all. */
  list: onInstallation((account: string | undefined) => {
    const accountId = account === undefined ? undefined : readAccountId(account);
    return async ({ shell, database }) => {
      if (accountId !== undefined) await requireAccount(database.kysely, accountId);
      const all = await readIntegrationOverviews(database.kysely);
      const shown = all.filter((one) => accountId === undefined || one.accountId === accountId);
      printTable<IntegrationOverview>(shell, shown, [
        ['client ID', ({ clientId }) => clientId],
        ['account', (integration) => integration.accountId],
        ['name', ({ name }) => name],
        ['state', stateOf],
      ]);
    };
  }),
  /** `integration show CLIENT`: its registration and its token requests in the last hour. */
  show: onInstallation((client: string) => {
    const clientId = readClientId(client);
    return async ({ shell, database }) => {
      const [integration] = await readIntegrationOverviews(database.kysely, clientId);
      if (integration === undefined) throw unknown(clientId);
      const until = integration.previousSecretUntil?.toISOString();
      const usage = await readAllowanceUsage(database.kysely, clientId);
      const lines = [
        `client ID      ${integration.clientId}`,
        `account        ${integration.accountId}`,
        `name           ${integration.name}`,
        `redirect URL   ${integration.redirectUri}`,
        `grants         ${integration.grants.join(', ')}`,
        `state          ${stateOf(integration)}`,
        `PKCE           ${integration.requirePkce ? 'required' : 'optional'}`,
        `allowance      ${integration.allowance} initial token requests per person per hour`,
        `old secret     ${until === undefined ? 'none' : `works until ${until}`}`,
        ...usage.map(({ email, used, left }) => `  ${email}: ${used} used, ${left} left this hour`),
      ];
      printResult(shell, lines.join('\n'), { ...integration, usage });
    };
  }),
  /** `integration set CLIENT`: disables or enables it, requires PKCE, or raises the allowance. */
  set: onInstallation((client: string, { disabled, pkce, allowance }: IntegrationOptions) => {
    const clientId = readClientId(client);
    const settings: IntegrationSettings = {
      ...(disabled && { disabled: readChoice('--disabled', disabled, 'yes', 'no') }),
      ...(pkce && { requirePkce: readChoice('--pkce', pkce, 'required', 'optional') }),
      ...(allowance && { allowance: readAllowance(allowance) }),
    };
    if (Object.keys(settings).length === 0)
      throw new OperatorError('Use --disabled, --pkce or --allowance.');
    return async ({ shell, database }) => {
      await runChange({ database }, undefined, async (transaction) => {
        if (!(await changeIntegration(transaction, clientId, settings))) throw unknown(clientId);
        await recordChange(transaction, 'integration_changed', clientId, { ...settings });
      });
      const text = `Changed ${clientId}. It takes effect on every node within a second.`;
      printResult(shell, text, { clientId, ...settings });
    };
  }),
  /** `integration rotate-secret CLIENT`: prints the new secret once; the old one works for the overlap. */
  'rotate-secret': onInstallation((client: string, { overlap }: { readonly overlap: string }) => {
    const clientId = readClientId(client);
    const seconds = readDuration(overlap);
    return async ({ shell, database, key }) => {
      const secret = randomBytes(32).toString('base64url');
      const hash = new ClientSecretHasher(await key()).hash(secret);
      await runChange({ database }, undefined, async (transaction) => {
        const rotated = await rotateClientSecret(transaction, clientId, hash, seconds);
        if (!rotated) throw unknown(clientId);
        await recordChange(transaction, 'client_secret_rotated', clientId, { overlap });
      });
      printResult(shell, secret, { clientId, clientSecret: secret });
      const old = seconds === 0 ? 'no longer works' : `works for another ${overlap}`;
      shell.err(`This is shown once. The old secret of ${clientId} ${old}.\n`);
    };
  }),
};

/** Recorded in the audit log of the integration's account. */
async function recordChange(
  transaction: Kysely,
  kind: string,
  clientId: ClientId,
  detail: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const [integration] = await readIntegrationOverviews(transaction, clientId);
  await recordCommand(transaction, { kind, clientId, accountId: integration?.accountId, detail });
}

function stateOf({ disabled }: IntegrationOverview): string {
  return disabled ? 'disabled' : 'active';
}

function readClientId(text: string): ClientId {
  const clientId = parseClientId(text);
  if (clientId === undefined) throw new OperatorError(`"${text}" is not a valid client ID.`);
  return clientId;
}

function unknown(clientId: ClientId): OperatorError {
  return new OperatorError(`Integration "${clientId}" not found.`);
}

function readChoice(name: string, text: string, yes: string, no: string): boolean {
  if (text === yes) return true;
  if (text === no) return false;
  throw new OperatorError(`${name} must be ${yes} or ${no}, not "${text}".`);
}

function readAllowance(text: string): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value < 1 || value > maxAllowance)
    throw new OperatorError(
      `--allowance must be a number from 1 to ${maxAllowance}, not "${text}".`,
    );
  return value;
}

/** Parses `30m`, `24h` or `7d` into seconds; `0` for none. */
function readDuration(text: string): number {
  if (text === '0') return 0;
  const seconds = parseDuration(text);
  if (seconds === undefined)
    throw new OperatorError(
      `--overlap must be a duration such as 30m, 24h or 7d, or 0, not "${text}".`,
    );
  return seconds;
}

import { type ApiKey, readApiKeys, removeApiKey } from '../../accounts/access/api-key-store.ts';
import {
  type CreatedApiKey,
  issueApiKey,
  maxKeyDays,
  maxKeyLimits,
  maxOverlapHours,
  readLiveApiKey,
  replaceApiKey,
  type SigningCredentials,
} from '../../accounts/access/issue-api-key.ts';
import { keyScopes, type Permission, permissions } from '../../accounts/access/permission.ts';
import type { KeyMode } from '../../accounts/access/principal.ts';
import { SigningSecrets } from '../../accounts/access/signing-secrets.ts';
import { systemClock } from '../../base/values/clock.ts';
import { type FaultDetail, OperatorError } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { type DropInName, dropInNames } from '../../drop-in/provider/drop-in.ts';
import { runChange } from '../change/change-resource.ts';
import { readInteger, withInstallation } from './join-installation.ts';
import { onAccount } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { serviceUrl } from './service-url.ts';
import { printResult, printTable } from './shell.ts';

interface CreateKeyOptions {
  readonly name: string;
  readonly scope?: readonly string[];
  readonly for?: string;
  readonly test?: boolean;
  readonly expiresInDays?: string;
  readonly network?: readonly string[];
  readonly template?: readonly string[];
}

const maxNameLength = 200;
const dayMs = 86_400_000;

export const keyCommands = {
  /**
   * `key create ACCOUNT`: creates an API key. Standard output contains only the key, so that scripts can store it; with `--for`, the
   * environment variables that the provider's SDK reads.
   */
  create: onAccount((options: CreateKeyOptions) => {
    const { name, expiresInDays, network, template } = options;
    const provider = readProvider(options.for);
    if (provider === undefined && options.scope === undefined)
      throw new OperatorError(
        'Give the key its permissions with --scope, or name an API with --for.',
      );
    if (!/\S/.test(name) || isLonger(name, maxNameLength))
      throw new OperatorError(
        `--name must have 1 to ${maxNameLength} characters and can’t be blank.`,
      );
    const given = options.scope && readScopes(options.scope);
    const mode: KeyMode = options.test === true ? 'test' : 'live';
    const days =
      expiresInDays === undefined
        ? undefined
        : readInteger('--expires-in-days', expiresInDays, 1, maxKeyDays);
    const networks = readList('--network', network);
    const templates = readList('--template', template);
    return async ({ shell, config, database, accountId, key: masterKey }) => {
      const expiresAt = days === undefined ? undefined : new Date(systemClock.now() + days * dayMs);
      // It brings the whole of sending with it.
      const dropIn = provider && (await import('../../drop-in/drop-ins.ts')).dropIns[provider];
      const scopes = given ?? dropIn?.scopes ?? [];
      const signs = dropIn?.signerOf !== undefined;
      const secrets = signs ? new SigningSecrets(await masterKey()) : undefined;
      const created = await runChange({ database }, accountId, async (transaction) => {
        const limits = { scopes, networks, templates };
        const request = { ...limits, accountId, name, mode, createdBy: undefined, expiresAt };
        const issued = requireCreated(
          await issueApiKey(transaction, { ...request, signing: secrets }),
        );
        const detail = { id: issued.id, mode, scopes: scopes.join(' ') };
        await recordCommand(transaction, { kind: 'api_key_created', accountId, detail });
        return issued;
      });
      const { id, text: key, signing } = created;
      const url = `${serviceUrl(config)}/${provider}`;
      const environment = dropIn?.environment(url, key, signing);
      const lines =
        environment && Object.entries(environment).map(([name, value]) => `${name}=${value}`);
      const result = { id, key, expiresAt: expiresAt ?? null };
      printResult(shell, lines?.join('\n') ?? key, {
        ...result,
        ...(environment && { environment }),
      });
      const until = expiresAt === undefined ? '' : ` It works until ${expiresAt.toISOString()}.`;
      shell.err(`This is shown once. The key’s ID is ${id}.${until}\n`);
    };
  }, withInstallation),
  /** `key list ACCOUNT`: the API keys of an account, newest first. */
  list: onAccount(
    () =>
      async ({ shell, database, accountId }) => {
        printTable<ApiKey>(shell, await readApiKeys(database.kysely, accountId), [
          ['id', ({ id }) => id],
          ['key', ({ hint }) => (hint === null ? undefined : `sp_${accountId}_…${hint}`)],
          ['name', ({ name }) => name],
          ['mode', ({ mode }) => mode],
          ['scopes', ({ scopes }) => scopes.join(' ')],
          [
            'limits',
            ({ networks, templates }) => [...(networks ?? []), ...(templates ?? [])].join(' '),
          ],
          ['created by', ({ createdBy }) => createdBy ?? 'command line'],
          ['expires', ({ expiresAt }) => expiresAt?.toISOString() ?? 'never'],
          ['last used', ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? 'never'],
        ]);
      },
    withInstallation,
  ),
  /** `key rotate ACCOUNT ID`: replaces a key and prints only the new one on standard output; the old one works for the overlap. */
  rotate: onAccount((idText: string, options: { readonly overlapHours: string }) => {
    const id = readKeyId(idText);
    const overlapHours = readInteger('--overlap-hours', options.overlapHours, 0, maxOverlapHours);
    return async ({ shell, database, accountId, key: masterKey }) => {
      const secrets = new SigningSecrets(await masterKey());
      const {
        id: newId,
        text: key,
        signing,
      } = await runChange({ database }, accountId, async (transaction) => {
        const now = systemClock.now();
        const old = await readLiveApiKey(transaction, accountId, id, now);
        if (old === undefined)
          throw new OperatorError(
            `The account ${accountId} has no active API key ${id}. Run key list to see its keys.`,
          );
        const rotation = { accountId, old, overlapHours, secrets, createdBy: undefined, now };
        const created = requireCreated(await replaceApiKey(transaction, rotation));
        const made = { id: created.id, mode: old.mode, scopes: old.scopes.join(' ') };
        await recordCommand(transaction, { kind: 'api_key_created', accountId, detail: made });
        const detail = { id, replacedBy: created.id };
        await recordCommand(transaction, { kind: 'api_key_rotated', accountId, detail });
        return created;
      });
      printResult(shell, [key, ...linesOf(signing)].join('\n'), {
        id: newId,
        key,
        ...signing,
        replaces: id,
      });
      const old = overlapHours === 0 ? 'no longer works' : `works for another ${overlapHours} h`;
      shell.err(`This is shown once. The new key’s ID is ${newId}. The old key ${old}.\n`);
    };
  }, withInstallation),
  /** `key revoke ACCOUNT ID`: revokes an API key. */
  revoke: onAccount((idText: string) => {
    const id = readKeyId(idText);
    return async ({ shell, database, accountId }) => {
      await runChange({ database }, accountId, async (transaction) => {
        if (!(await removeApiKey(transaction, accountId, id)))
          throw new OperatorError(
            `The account ${accountId} has no API key ${id}. Run key list to see its keys.`,
          );
        await recordCommand(transaction, { kind: 'api_key_removed', accountId, detail: { id } });
      });
      printResult(shell, `Revoked ${id}, on every node within a second.`, { id, revoked: true });
    };
  }, withInstallation),
};

/** The variables with which the SDKs of Amazon sign; none for a key that can't. */
function linesOf(signing: SigningCredentials | undefined): string[] {
  if (signing === undefined) return [];
  const { accessKeyId, secretAccessKey } = signing;
  return [`AWS_ACCESS_KEY_ID=${accessKeyId}`, `AWS_SECRET_ACCESS_KEY=${secretAccessKey}`];
}

/** Parses the id of a key. @throws OperatorError if invalid, for example the key itself */
function readKeyId(text: string): string {
  const id = parseMessageId(text);
  if (id === undefined)
    throw new OperatorError('The ID must be an API key ID, as shown by key list.');
  return id;
}

/** @throws OperatorError that explains in terms of the options why no key was created */
function requireCreated(result: CreatedApiKey): Extract<CreatedApiKey, { readonly text: string }> {
  if (result.problem !== undefined) throw new OperatorError(describe(result.problem));
  return result;
}

const optionOf: Readonly<Record<string, string>> = {
  mode: '--test',
  scopes: '--scope',
  networks: '--network',
  templates: '--template',
};

function describe({ field, reason }: FaultDetail): string {
  const option = optionOf[field];
  return option === undefined ? `No key was created: ${reason}.` : `${option} ${reason}.`;
}

function readProvider(text: string | undefined): DropInName | undefined {
  const found = dropInNames.find((name) => name === text);
  if (text === undefined || found !== undefined) return found;
  throw new OperatorError(`--for must be one of ${dropInNames.join(', ')}, not "${text}".`);
}

function readScopes(texts: readonly string[]): Permission[] {
  for (const text of texts)
    if (!permissions.some((permission) => permission === text))
      throw new OperatorError(`--scope "${text}" is unknown; use any of ${keyScopes.join(', ')}.`);
  return [...new Set(texts)] as Permission[];
}

function readList(option: string, texts: readonly string[] | undefined): string[] | null {
  if (texts === undefined) return null;
  if (texts.length > maxKeyLimits)
    throw new OperatorError(`Use ${option} at most ${maxKeyLimits} times.`);
  return [...new Set(texts)];
}

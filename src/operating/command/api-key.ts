import { type ApiKey, readApiKeys, removeApiKey } from '../../accounts/access/api-key-store.ts';
import {
  type CreatedApiKey,
  issueApiKey,
  maxKeyDays,
  maxKeyLimits,
  maxOverlapHours,
  readLiveApiKey,
  replaceApiKey,
} from '../../accounts/access/issue-api-key.ts';
import { keyScopes, type Permission, permissions } from '../../accounts/access/permission.ts';
import { systemClock } from '../../base/values/clock.ts';
import { type FaultDetail, OperatorError } from '../../base/values/errors.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import { runChange } from '../change/change-resource.ts';
import { readInteger, readKeyId, withAccount } from './join-installation.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';

export interface CreateKeyOptions extends JsonOption {
  readonly name: string;
  readonly scope: readonly string[];
  readonly expiresInDays?: string;
  readonly network?: readonly string[];
  readonly template?: readonly string[];
}

const maxNameLength = 200;
const dayMs = 86_400_000;

/**
 * `key create ACCOUNT`: creates an API key. Standard output contains only the key, so that scripts can store it.
 * @throws OperatorError if the key can't be created
 */
export async function createKey(
  shell: CommandShell,
  accountText: string,
  options: CreateKeyOptions,
): Promise<void> {
  const { name, expiresInDays, network, template } = options;
  if (!/\S/.test(name) || isLonger(name, maxNameLength))
    throw new OperatorError(
      `--name must have 1 to ${maxNameLength} characters and can’t be blank.`,
    );
  const scopes = readScopes(options.scope);
  const days =
    expiresInDays === undefined
      ? undefined
      : readInteger('--expires-in-days', expiresInDays, 1, maxKeyDays);
  const networks = readList('--network', network);
  const templates = readList('--template', template);
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    const expiresAt = days === undefined ? undefined : new Date(systemClock.now() + days * dayMs);
    const result = await runChange({ database }, accountId, async (transaction) => {
      const created = requireCreated(
        await issueApiKey(transaction, {
          accountId,
          name,
          scopes,
          networks,
          templates,
          createdBy: undefined,
          expiresAt,
        }),
      );
      const detail = { id: created.id, scopes: scopes.join(' ') };
      await recordCommand(transaction, { kind: 'api_key_created', accountId, detail });
      return created;
    });
    const { id, text: key } = result;
    printResult(shell, options, key, { id, key, expiresAt: expiresAt ?? null });
    const until = expiresAt === undefined ? '' : ` It works until ${expiresAt.toISOString()}.`;
    shell.err(`This is shown once. The key’s ID is ${result.id}.${until}\n`);
  });
}

/** @throws OperatorError that explains in terms of the options why no key was created */
function requireCreated(result: CreatedApiKey): Extract<CreatedApiKey, { readonly text: string }> {
  if (result.problem !== undefined) throw new OperatorError(describe(result.problem));
  return result;
}

const optionOf: Readonly<Record<string, string>> = {
  scopes: '--scope',
  networks: '--network',
  templates: '--template',
};

function describe({ field, reason }: FaultDetail): string {
  const option = optionOf[field];
  return option === undefined ? `No key was created: ${reason}.` : `${option} ${reason}.`;
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

/** `key list ACCOUNT`: the API keys of an account, newest first. */
export function listKeys(
  shell: CommandShell,
  accountText: string,
  options: JsonOption,
): Promise<void> {
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    printTable<ApiKey>(shell, options, await readApiKeys(database.kysely, accountId), [
      ['id', ({ id }) => id],
      ['key', ({ hint }) => (hint === null ? undefined : `sp_${accountId}_…${hint}`)],
      ['name', ({ name }) => name],
      ['scopes', ({ scopes }) => scopes.join(' ')],
      [
        'limits',
        ({ networks, templates }) => [...(networks ?? []), ...(templates ?? [])].join(' '),
      ],
      ['created by', ({ createdBy }) => createdBy ?? 'command line'],
      ['expires', ({ expiresAt }) => expiresAt?.toISOString() ?? 'never'],
      ['last used', ({ lastUsedAt }) => lastUsedAt?.toISOString() ?? 'never'],
    ]);
  });
}

export interface RotateKeyOptions extends JsonOption {
  readonly overlapHours: string;
}

/**
 * `key rotate ACCOUNT ID`: replaces a key and prints only the new one on standard output; the old one works for the
 * overlap.
 * @throws OperatorError if the account has no such live key
 */
export async function rotateKey(
  shell: CommandShell,
  accountText: string,
  idText: string,
  options: RotateKeyOptions,
): Promise<void> {
  const id = readKeyId(idText);
  const overlapHours = readInteger('--overlap-hours', options.overlapHours, 0, maxOverlapHours);
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    const newKey = await runChange({ database }, accountId, async (transaction) => {
      const now = systemClock.now();
      const old = await readLiveApiKey(transaction, accountId, id, now);
      if (old === undefined)
        throw new OperatorError(
          `The account ${accountId} has no active API key ${id}. Run key list to see its keys.`,
        );
      const rotation = { accountId, old, overlapHours, createdBy: undefined, now };
      const created = requireCreated(await replaceApiKey(transaction, rotation));
      const scopes = old.scopes.join(' ');
      await recordCommand(transaction, {
        kind: 'api_key_created',
        accountId,
        detail: { id: created.id, scopes },
      });
      await recordCommand(transaction, {
        kind: 'api_key_rotated',
        accountId,
        detail: { id, replacedBy: created.id },
      });
      return created;
    });
    printResult(shell, options, newKey.text, { id: newKey.id, key: newKey.text, replaces: id });
    const oldKeyState =
      overlapHours === 0 ? 'no longer works' : `works for another ${overlapHours} h`;
    shell.err(
      `This is shown once. The new key’s ID is ${newKey.id}. The old key ${oldKeyState}.\n`,
    );
  });
}

/** `key revoke ACCOUNT ID`: revokes an API key. @throws OperatorError if the account has no such key */
export async function revokeKey(
  shell: CommandShell,
  accountText: string,
  idText: string,
  options: JsonOption,
): Promise<void> {
  const id = readKeyId(idText);
  return withAccount(accountText, shell, async ({ database }, accountId) => {
    await runChange({ database }, accountId, async (transaction) => {
      if (!(await removeApiKey(transaction, accountId, id)))
        throw new OperatorError(
          `The account ${accountId} has no API key ${id}. Run key list to see its keys.`,
        );
      await recordCommand(transaction, { kind: 'api_key_removed', accountId, detail: { id } });
    });
    printResult(shell, options, `Revoked ${id}, on every node within a second.`, {
      id,
      revoked: true,
    });
  });
}

import {
  type CreatedApiKey,
  issueApiKey,
  maxKeyDays,
  maxKeyLimits,
} from '../../access/issue-api-key.ts';
import { keyScopes, type Permission, permissions } from '../../access/permission.ts';
import { runChange } from '../../change/change-resource.ts';
import { systemClock } from '../../foundation/clock.ts';
import { type FaultDetail, OperatorError } from '../../foundation/errors.ts';
import { isLonger } from '../../foundation/is-longer.ts';
import { recordCommand } from '../record-command.ts';
import { type CommandShell, type JsonOption, printResult } from '../shell.ts';
import { readInteger, withAccount } from './with-account.ts';

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
  accountText: string,
  options: CreateKeyOptions,
  shell: CommandShell,
): Promise<number> {
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
    return 0;
  });
}

/** @throws OperatorError that explains in terms of the options why no key was created */
export function requireCreated(
  result: CreatedApiKey,
): Extract<CreatedApiKey, { readonly text: string }> {
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

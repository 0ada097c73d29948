import type { Command } from 'commander';
import { addCreateKey } from './key/add-create-key.ts';
import { addListKeys } from './key/add-list-keys.ts';
import { addRevokeKey } from './key/add-revoke-key.ts';
import { addRotateKey } from './key/add-rotate-key.ts';
import { addRotateMaster } from './key/add-rotate-master.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adds `key …`. Each of its commands has a separate file. */
export function addKeyCommands(
  program: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const key = program
    .command('key')
    .description('create, list, rotate and revoke API keys, and rotate the master key');
  addCreateKey(key, environment, done);
  addListKeys(key, environment, done);
  addRotateKey(key, environment, done);
  addRevokeKey(key, environment, done);
  addRotateMaster(key, environment, done);
}

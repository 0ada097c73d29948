import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/** The statements of a migration, without comments. Bodies in dollar quotes stay whole. */
export function splitStatements(sql: string): string[] {
  const parts = sql
    .replaceAll(/^\s*--.*$/gm, '')
    .match(/(?:\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|[^;])+/g);
  return (parts ?? []).map((part) => part.trim().replaceAll(/\s+/g, ' ')).filter(Boolean);
}

const folder = new URL('../../../migrations/', import.meta.url);
const namePattern = /^(\d{4})-(?:contract-after-(\d{4})-)?[a-z0-9-]+\.sql$/;

/**
 * A migration. Most expand the schema: processes of the previous release keep running with it. One named
 * `NNNN-contract-after-MMMM-…` removes what releases without migration MMMM use.
 */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** The migration that a release must have to run with the schema after this one; undefined if this one expands. */
  readonly contractsAfter: number | undefined;
}

let migrations: Promise<readonly Migration[]> | undefined;

/** The migrations of this release in order, read once. They are forward-only; released files are never edited. */
export function readMigrations(): Promise<readonly Migration[]> {
  migrations ??= loadMigrations().catch((error: unknown) => {
    migrations = undefined;
    throw error;
  });
  return migrations;
}

async function loadMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => namePattern.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      const sha256 = createHash('sha256').update(sql).digest('hex');
      const { version, contractsAfter } = parseName(name) ?? { version: 0 };
      return { version, name, sql, sha256, contractsAfter };
    }),
  );
}

/**
 * Whether a release runs with a schema that a later release has migrated.
 * @param name of a migration that the release doesn't have
 * @param latest the last migration that it has
 */
export function worksAfter(name: string, latest: number): boolean {
  const parsed = parseName(name);
  if (parsed === undefined || parsed.version <= latest) return false;
  return parsed.contractsAfter === undefined || parsed.contractsAfter <= latest;
}

function parseName(name: string) {
  const [found, version, after] = namePattern.exec(name) ?? [];
  if (found === undefined) return undefined;
  return {
    version: Number(version),
    contractsAfter: after === undefined ? undefined : Number(after),
  };
}

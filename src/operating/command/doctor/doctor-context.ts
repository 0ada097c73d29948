import type { Database } from '../../../base/database/open-database.ts';
import { countUnused } from '../../../base/threads/process-store.ts';
import { type Diagnosis, fine } from '../../../base/values/diagnosis.ts';
import type { Config } from '../../config/config.ts';
import { openRunningDatabase } from '../open-running.ts';

/** Of a check that needs the database. If that doesn't respond, its own check reports why. */
export const notChecked = fine('not checked without the database');

/** Several lines of a finding or advice, under each other. */
export function stack(lines: readonly string[]): string | undefined {
  return lines.length === 0 ? undefined : lines.join('\n               ');
}

/** Checks by name, in the order in which they run. */
export type Checks = Readonly<
  Record<string, (context: DoctorContext) => Diagnosis | Promise<Diagnosis>>
>;

/** What the checks have access to. The database is undefined if no service runs on the data folder. */
export interface DoctorContext {
  readonly config: Config;
  readonly database: Database | undefined;
  /** What running processes couldn't use, read once; undefined without the database. */
  readonly unused: Awaited<ReturnType<typeof countUnused>> | undefined;
  close(): Promise<void>;
}

/** Connects to the operator's database, or to the embedded one of a running service; starts nothing. */
export async function openDoctorContext(config: Config): Promise<DoctorContext> {
  const database = await openRunningDatabase(config, 'signalpost doctor');
  const unused = await (database && countUnused(database.kysely).catch(() => undefined));
  return { config, database, unused, close: async () => database?.close() };
}

/** Asks the database. @returns undefined if it isn't running or doesn't respond */
export async function ask<Result>(
  { database }: DoctorContext,
  question: (database: Database) => Promise<Result>,
): Promise<Result | undefined> {
  return await (database && question(database).catch(() => undefined));
}

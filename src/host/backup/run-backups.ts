import { setTimeout as delay } from 'node:timers/promises';
import type { KeySource } from '../../base/secrets/load-master-key.ts';
import { messageOf } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';
import type { DataFolder } from '../embedded-database/data-folder.ts';
import type { ConnectionSettings } from '../embedded-database/database-password.ts';
import { BackupKeys, createEncrypter } from './backup-encryption.ts';
import { bytesOf } from './backup-manifest.ts';
import { openBackupRepository } from './backup-repository.ts';
import {
  type BackupServiceState,
  readBackupServiceState,
  readBaseBackupState,
  writeBackupServiceState,
  writeBaseBackupState,
} from './backup-state.ts';
import { type BackupSettings, type BackupTarget, formatBackupTarget } from './backup-target.ts';
import { takeBaseBackup } from './take-base-backup.ts';
import { WalArchiver } from './wal-archive.ts';

/** What the backups of a service need; can be sent to a thread. */
export interface BackupServiceJob {
  readonly settings: BackupSettings & { readonly to: BackupTarget };
  readonly folder: DataFolder;
  readonly admin: ConnectionSettings;
  readonly keys: KeySource;
  readonly release: string;
  readonly logLevel: string;
}

const baseIntervalMs = 24 * 60 * 60 * 1_000;
const pollMs = 1_000;
/** How often the state is written if nothing but the time changes. */
const stateIntervalMs = 10_000;
const minRetryMs = 2_000;
const maxRetryMs = 60_000;
const maxBaseRetryMs = 15 * 60_000;

/** Backs up until the thread ends: base backups daily, WAL continuously. Failures are logged and retried. */
export async function runBackups(job: BackupServiceJob, log: Log): Promise<void> {
  const service = new BackupService(job, log);
  await Promise.all([service.archiveWal(), service.takeBases()]);
}

class BackupService {
  readonly #job: BackupServiceJob;
  readonly #log: Log;
  readonly #target: string;
  #state: BackupServiceState;
  #writtenAt = 0;

  constructor(job: BackupServiceJob, log: Log) {
    this.#job = job;
    this.#log = log;
    this.#target = formatBackupTarget(job.settings.to);
    const found = readBackupServiceState(job.folder.path);
    this.#state =
      found?.target === this.#target ? found : { target: this.#target, waiting: 0, hasGap: true };
  }

  async archiveWal(): Promise<never> {
    const { folder, settings, keys } = this.#job;
    const repository = await openBackupRepository(settings.to, settings.s3);
    const encrypter = createEncrypter(settings.recipients);
    const archiver = new WalArchiver(
      folder,
      repository,
      encrypter,
      new BackupKeys(repository, encrypter, keys),
    );
    let retryMs = minRetryMs;
    let storedTimelines = false;
    for (;;) {
      const startedAt = new Date().toISOString();
      try {
        if (!storedTimelines) await archiver.storeTimelines();
        storedTimelines = true;
        await archiver.storeAll();
        const { waiting, since } = await archiver.countWaiting();
        const succeededAt = waiting === 0 ? startedAt : this.#state.succeededAt;
        if (this.#state.problem !== undefined) this.#log.info('the backup works again');
        this.#update({
          waiting,
          waitingSince: since?.toISOString(),
          succeededAt,
          problem: undefined,
        });
        retryMs = minRetryMs;
        await delay(pollMs);
      } catch (error) {
        await this.#reportFailure(archiver, error);
        await delay(retryMs);
        retryMs = Math.min(retryMs * 2, maxRetryMs);
      }
    }
  }

  async takeBases(): Promise<never> {
    const { folder, settings } = this.#job;
    let retryMs = minRetryMs;
    for (;;) {
      const last = readBaseBackupState(folder.path);
      const isCurrent =
        last?.target === this.#target &&
        !this.#state.hasGap &&
        Date.now() - Date.parse(last.finishedAt) < baseIntervalMs;
      try {
        if (!isCurrent) {
          const manifest = await takeBaseBackup({
            ...this.#job,
            repository: await openBackupRepository(settings.to, settings.s3),
            recipients: settings.recipients,
            keepDays: settings.keepDays,
          });
          const bytes = bytesOf(manifest);
          const { id, finishedAt } = manifest;
          writeBaseBackupState(folder.path, { target: this.#target, id, finishedAt, bytes });
          this.#update({ hasGap: false, baseProblem: undefined });
          this.#log.info({ id, bytes }, 'took a base backup');
        }
        retryMs = minRetryMs;
        await delay(pollMs);
      } catch (error) {
        this.#log.error({ err: error, retryMs }, 'the base backup failed; retrying');
        this.#update({ baseProblem: messageOf(error) });
        await delay(retryMs);
        retryMs = Math.min(retryMs * 2, maxBaseRetryMs);
      }
    }
  }

  async #reportFailure(archiver: WalArchiver, error: unknown): Promise<void> {
    const { waiting = this.#state.waiting, since } = await archiver
      .countWaiting()
      .catch(() => ({ since: undefined }) as { waiting?: number; since: Date | undefined });
    if (this.#state.problem === undefined)
      this.#log.error({ err: error, waiting }, 'WAL could not be backed up; retrying');
    this.#update({ problem: messageOf(error), waiting, waitingSince: since?.toISOString() });
    const removed = await archiver.removeIfDiskFull().catch(() => 0);
    if (removed === 0) return;
    this.#update({ hasGap: true });
    this.#log.error(
      { removed },
      'removed WAL that waited for the backup, because the disk is nearly full; a new base backup follows',
    );
  }

  #update(change: Partial<BackupServiceState>): void {
    const next = { ...this.#state, ...change };
    const isNews =
      next.problem !== this.#state.problem ||
      next.baseProblem !== this.#state.baseProblem ||
      next.waiting !== this.#state.waiting ||
      next.hasGap !== this.#state.hasGap;
    this.#state = next;
    if (!isNews && Date.now() - this.#writtenAt < stateIntervalMs) return;
    this.#writtenAt = Date.now();
    try {
      writeBackupServiceState(this.#job.folder.path, next);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not write the state of the backup');
    }
  }
}

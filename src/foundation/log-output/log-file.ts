import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from 'node:fs';
import { codeOf } from '../database/sqlstate.ts';
import { OperatorError } from '../errors.ts';
import type { LogOutput } from './log-outputs.ts';

/** Owner and group; lines can have IP addresses. */
const fileMode = 0o640;
/** How often the file is checked for having been renamed or removed. */
const checkIntervalMs = 1_000;
const complaintIntervalMs = 60_000;

/**
 * Appends lines to a file. Once it was renamed or removed, as logrotate does, a new one is created at its path within a
 * second, without a signal. Each line is one append, so processes can share a file. While the disk is full, lines are lost.
 */
export class LogFile implements LogOutput {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  #fd: number;
  #quietUntil = 0;

  /** @throws OperatorError if the file can't be written */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#fd = open(path);
    } catch (cause) {
      throw new OperatorError(
        `LOG_FILE names ${path}, which can’t be written (${codeOf(cause)}).`,
        {
          cause,
        },
      );
    }
    this.#timer = setInterval(() => this.#attempt(() => this.#reopenIfMoved()), checkIntervalMs);
    this.#timer.unref();
  }

  write(line: string): void {
    this.#attempt(() => {
      let rest = Buffer.from(line);
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
    });
  }

  /** Lines after this go to standard error. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const before = this.#fd;
    this.#fd = 2;
    closeSync(before);
  }

  #reopenIfMoved(): void {
    const named = statSync(this.#path, { throwIfNoEntry: false });
    const opened = fstatSync(this.#fd);
    if (named?.ino === opened.ino && named.dev === opened.dev) return;
    const before = this.#fd;
    this.#fd = open(this.#path);
    closeSync(before);
  }

  /** A problem with the file is no reason to stop sending. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (performance.now() < this.#quietUntil) return;
      this.#quietUntil = performance.now() + complaintIntervalMs;
      process.stderr.write(`signalpost: can’t write ${this.#path} (${codeOf(error)})\n`);
    }
  }
}

function open(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  return openSync(path, O_WRONLY | O_CREAT | O_APPEND, fileMode);
}

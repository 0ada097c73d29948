import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';

const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

/** Debian's libfaketime: the clock of a running program that a test can step. Its monotonic clock runs on, as a real one. */
export class FakeClock {
  readonly #file = join(temporaryFolder(), 'clock');

  constructor() {
    if (library === undefined) throw new Error('Debian’s package faketime is not installed');
    this.step(0);
  }

  /** Sets the clock to the real time plus this. */
  step(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? '' : '+'}${seconds}s`);
  }

  /** The variables of a program with this clock. */
  get environment() {
    return {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** The command that runs another one with this clock. */
  command(program: string, args: readonly string[]): [program: string, args: string[]] {
    const assigned = Object.entries(this.environment).map(([name, value]) => `${name}=${value}`);
    return ['env', [...assigned, program, ...args]];
  }
}

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';

/**
 * The system's names for one program, in a mount namespace: those of a hosts file that a test changes while the program runs,
 * and no name server.
 */
export class NameService {
  readonly #folder = temporaryFolder();

  constructor(names: readonly string[]) {
    writeFileSync(join(this.#folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
    this.know(names);
  }

  /** True if this process may make a namespace. */
  static get isAvailable(): boolean {
    try {
      execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** From now on, these names are known, all as 127.0.0.1, and no others. */
  know(names: readonly string[]): void {
    writeFileSync(join(this.#folder, 'hosts'), `127.0.0.1 ${['localhost', ...names].join(' ')}\n`);
  }

  /** The command that runs another one with these names. */
  command(program: string, args: readonly string[]): [program: string, args: string[]] {
    const script = ['hosts', 'resolv.conf']
      .map((name) => `mount --bind ${join(this.#folder, name)} /etc/${name}`)
      .join(' && ');
    return ['unshare', ['--mount', 'sh', '-c', `${script} && exec "$@"`, 'sh', program, ...args]];
  }
}

import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';

const registry = '/proc/sys/fs/binfmt_misc';
const entry = 'signalpost-aarch64';
/** The first bytes of an ELF executable for AArch64, and which of their bits count: elf(5). */
const magic = '7f454c460201010000000000000000000200b700';
const mask = 'ffffffffffffff00fffffffffffffffffeffffff';

/** Bytes as the kernel reads them: Documentation/admin-guide/binfmt-misc.rst. */
const escaped = (hex: string): string => hex.replace(/../g, '\\x$&');

/**
 * Lets this machine run programs for arm64, with Debian's qemu-user-static. The kernel opens the emulator now (`F`), so that it
 * is found below any root.
 * @returns undoes it
 */
export function startEmulation(): () => void {
  if (!existsSync(`${registry}/register`))
    execFileSync('mount', ['-t', 'binfmt_misc', 'binfmt_misc', registry]);
  writeFileSync(
    `${registry}/register`,
    `:${entry}:M::${escaped(magic)}:${escaped(mask)}:/usr/bin/qemu-aarch64-static:F`,
  );
  return () => writeFileSync(`${registry}/${entry}`, '-1');
}

// Writes dist, the program of the published package: src without its types. Node strips types itself, but not below
// node_modules (its documentation, “Type stripping in dependencies”), where a package stands once it is installed.
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
await rm(join(root, 'dist'), { recursive: true, force: true });
// What the program reads beside its code.
await cp(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.package.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

// Writes dist, the program of the published package: src without types. Node strips types itself, but not below node_modules
// (Node.js documentation, “Type stripping in dependencies”).
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
await rm(join(root, 'dist'), { recursive: true, force: true });
// Files that the program reads at run time.
await cp(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.package.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

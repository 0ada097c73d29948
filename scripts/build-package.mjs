// Writes the program of the published package: src without types into dist, packages/import into its own dist, and the docs site.
// Node strips types itself, but not below node_modules (Node.js documentation, “Type stripping in dependencies”).
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
for (const folder of ['dist', 'packages/import/dist'])
  await rm(join(root, folder), { recursive: true, force: true });
// Files that the program reads at run time.
await cp(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
run('npm', 'run', 'docs:site');
for (const config of ['tsconfig.package.json', 'packages/import/tsconfig.build.json']) {
  run(join(root, 'node_modules/.bin/tsc'), '-p', config);
}

function run(program, ...args) {
  // npm reads from its output which files it has packed.
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

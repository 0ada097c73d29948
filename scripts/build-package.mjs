// Makes what only the published package has. `dist` is its program, src without its types: Node strips types itself, but not
// below node_modules (its documentation, “Type stripping in dependencies”). npm-shrinkwrap.json is the lockfile that npm heeds
// in a package, so that what was tested together is installed together.
import { spawnSync } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
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
const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
for (const [path, { dev }] of Object.entries(lock.packages))
  if (dev === true) delete lock.packages[path];
delete lock.packages[''].devDependencies;
await writeFile(join(root, 'npm-shrinkwrap.json'), JSON.stringify(lock, null, 2));
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.package.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

// Writes dist: JavaScript and types of the package, as ES modules and as CommonJS.
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);
rmSync(join(folder, 'dist'), { recursive: true, force: true });
for (const [name, options] of [
  ['esm', ['--module', 'esnext']],
  ['cjs', ['--module', 'commonjs', '--verbatimModuleSyntax', 'false']],
]) {
  const { status } = spawnSync(
    process.execPath,
    [
      compiler,
      '-p',
      join(folder, 'tsconfig.build.json'),
      ...options,
      '--outDir',
      join(folder, 'dist', name),
    ],
    { stdio: 'inherit' },
  );
  if (status !== 0) process.exit(1);
}
// The command line shares its code with `bin/signalpost types`. It lives in src of the service, whose package contains that only.
const types = spawnSync(
  process.execPath,
  [compiler, '-p', join(folder, 'tsconfig.types.json'), '--outDir', join(folder, 'dist/types')],
  { stdio: 'inherit' },
);
if (types.status !== 0) process.exit(1);
chmodSync(join(folder, 'dist/types/main.js'), 0o755);
writeFileSync(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');

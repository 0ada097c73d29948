// Completes the tarball of `npm pack` with the packages that the program runs with, so that an installation runs what was tested
// here, without the files that only development needs. What is made for one platform is left to npm.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = async (path) => JSON.parse(await readFile(path, 'utf8'));
const writeJson = (path, value) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);

const { devDependencies, overrides, scripts, workspaces, ...manifest } = await readJson(
  join(root, 'package.json'),
);
const { packages } = await readJson(join(root, 'package-lock.json'));

/** Whether npm chooses between packages for this system, as for native code. */
const isForOnePlatform = ({ cpu, optionalDependencies = {} }) =>
  cpu !== undefined ||
  Object.keys(optionalDependencies).some((name) => packages[`node_modules/${name}`]?.cpu);
const isBundled = (path) => {
  const { dev, link, ...entry } = packages[path];
  return path.startsWith('node_modules/') && !dev && !link && !isForOnePlatform(entry);
};

const isForDevelopment = (name) =>
  /\.(?:[cm]?tsx?|bare|map|md)$/.test(name) && !/^(?:copying|licen[cs]e|notice)/i.test(name);

/** Folders of a package that its program doesn't read. */
const developmentFolder = /^(?:tests?|__tests__|benchmarks?|examples?)$/;

/** Copies a package without those below it. An override only counts here, so the copy requires what it was tested with. */
async function copyPackage(path, folder) {
  const copy = join(folder, path);
  const original = join(root, path);
  await cp(original, copy, {
    recursive: true,
    filter: (source) =>
      basename(source) !== 'node_modules' &&
      !isForDevelopment(basename(source)) &&
      !developmentFolder.test(relative(original, source)),
  });
  const own = await readJson(join(copy, 'package.json'));
  for (const name of Object.keys(overrides).filter((name) => own.dependencies?.[name]))
    own.dependencies[name] = packages[`node_modules/${name}`].version;
  // Types are for development, also where a package says that it needs them.
  delete own.peerDependencies?.['@types/node'];
  await writeJson(join(copy, 'package.json'), own);
}

/** The tarball that `npm pack` has just written. */
function packedTarball() {
  const { INIT_CWD = root, npm_config_pack_destination: destination = '.' } = process.env;
  return resolve(INIT_CWD, destination, `${manifest.name}-${manifest.version}.tgz`);
}

const [tarball = packedTarball()] = process.argv.slice(2);
if (process.env.npm_config_dry_run === 'true') process.exit();
if (process.env.npm_command === 'publish' || !existsSync(tarball)) {
  process.stderr.write(`Run "npm pack", then publish ${basename(tarball)}.\n`);
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'signalpost-package-'));
try {
  const copy = join(folder, 'package');
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  for (const path of Object.keys(packages))
    if (isBundled(path) && existsSync(join(root, path))) await copyPackage(path, copy);
  const bundleDependencies = Object.keys(manifest.dependencies).filter((name) =>
    isBundled(`node_modules/${name}`),
  );
  await writeJson(join(copy, 'package.json'), { ...manifest, bundleDependencies });
  const options = ['--ignore-scripts', '--silent', '--pack-destination', dirname(tarball)];
  execFileSync('npm', ['pack', ...options], { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  await rm(folder, { recursive: true, force: true });
}

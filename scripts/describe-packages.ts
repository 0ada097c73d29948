import { glob, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  /** A workspace of this repository. */
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  /** True for a package that isn't for every system. */
  readonly optional?: boolean;
}

/** A package whose code is part of the service or of the console. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** True for a package that isn't for every system. */
  readonly optional: boolean;
}

/** Licenses that permit use, change and redistribution; data and texts included (caniuse-lite, argparse). */
const permitted = new Set([
  '(MIT OR CC0-1.0)',
  '(MIT OR EUPL-1.1+)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
]);

/** Licenses that package.json omits or states in another form. */
const stated: Readonly<Record<string, string>> = {
  'MIT (http://mootools.net/license.txt)': 'MIT',
};

const root = join(import.meta.dirname, '..');

/**
 * All packages of package-lock.json that the service loads or the console contains, by name.
 * @throws if a license isn't permitted
 */
export async function readShippedPackages(): Promise<readonly ShippedPackage[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const { packages } = lock;
  const own = packages[''];
  const paths = new Set<string>();
  const open = [
    ...namesOf(own?.dependencies, own?.optionalDependencies),
    ...(await importsOfConsole()),
  ].map((name): readonly [string, string] => ['', name]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, name] = next;
    const path = locate(packages, from, name);
    if (path === undefined || packages[path]?.link || paths.has(path)) continue;
    paths.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      packages[path] ?? {};
    const peers = namesOf(peerDependencies).filter(
      (peer) => !peerDependenciesMeta?.[peer]?.optional,
    );
    for (const other of [...namesOf(dependencies, optionalDependencies), ...peers])
      open.push([path, other]);
  }
  const shipped = [...paths].map((path) => {
    const { version = '', license = '', optional = false } = packages[path] ?? {};
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return { name, version, license: stated[license || name] ?? license, optional };
  });
  for (const { name, license } of shipped)
    if (!permitted.has(license))
      throw new Error(
        `${name} has the license "${license}", which isn't in the list of permitted ones`,
      );
  return shipped.sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** The table of docs/reference/packages.md: the shipped packages by license. */
export async function describePackages(): Promise<Readonly<Record<'packages', string>>> {
  const byLicense = Map.groupBy(await readShippedPackages(), ({ license }) => license);
  const rows = [...byLicense]
    .sort(([a, many], [b, others]) => others.length - many.length || (a < b ? -1 : 1))
    .map(([license, packages]) => {
      const names = packages.map(({ name, version }) => `${name} ${version}`);
      return `| ${license} | ${[...new Set(names)].join(', ')} |`;
    });
  return { packages: ['| license | packages |', '| --- | --- |', ...rows].join('\n') };
}

function namesOf(...lists: readonly (Readonly<Record<string, string>> | undefined)[]): string[] {
  return lists.flatMap((list) => Object.keys(list ?? {}));
}

/** The folder of a package as seen from another one, as Node resolves it. */
function locate(
  packages: Readonly<Record<string, LockedPackage>>,
  from: string,
  name: string,
): string | undefined {
  for (let folder = from; ; ) {
    const path = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1));
  }
}

async function importsOfConsole(): Promise<readonly string[]> {
  const names = new Set<string>();
  for await (const file of glob(join(root, 'console/src/**/*.{ts,tsx,css}'))) {
    const text = await readFile(file, 'utf8');
    for (const [, name] of text.matchAll(
      /(?:from|import|@import) ?\(?'((?:@[^'/]+\/)?[^'./][^'/]*)/g,
    ))
      if (name !== undefined && !isBuiltin(name)) names.add(name);
  }
  return [...names];
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { secretNames, settings } from '../../src/operating/config/settings-table.ts';

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test?: readonly string[] };
}

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'ops/compose.yaml'), 'utf8');
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const page = readFileSync(join(root, 'docs/operate/container.md'), 'utf8');
const { services, volumes, secrets } = parse(text) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};

test('each service of ops/compose.yaml has an image, a health check, and volumes that are declared', () => {
  assert.deepEqual(Object.keys(services), ['signalpost', 'database', 'caddy']);
  const used = new Set<string>();
  for (const [name, service] of Object.entries(services)) {
    assert.match(service.image ?? '', /^[\w./-]+:[\w.-]+$/, name);
    assert.match(service.healthcheck?.test?.[0] ?? '', /^CMD(?:-SHELL)?$/, name);
    for (const volume of service.volumes ?? []) {
      const [source = '', target = ''] = volume.split(':');
      assert.ok(source in volumes && target.startsWith('/'), volume);
      used.add(source);
    }
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      assert.equal(condition, 'service_healthy');
      assert.ok(services[needed]?.healthcheck, needed);
    }
  }
  assert.deepEqual([...used].sort(), Object.keys(volumes).sort());
});

test('the service of ops/compose.yaml runs without root rights, and only Caddy has ports', () => {
  const { signalpost } = services;
  assert.equal(signalpost?.read_only, true);
  assert.deepEqual(signalpost.cap_drop, ['ALL']);
  assert.equal(signalpost.user, undefined);
  assert.match(dockerfile, /^USER 10001:0$/m);
  const open = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  assert.deepEqual(
    open.map(([name]) => name),
    ['caddy'],
  );
});

test('ops/compose.yaml uses settings that exist, the health check of the image, and variables that the page names', () => {
  const names = Object.keys(settings);
  for (const name of Object.keys(services.signalpost?.environment ?? {}))
    assert.ok(names.includes(name.replace(/_FILE$/, '')), name);
  const check = services.signalpost?.healthcheck?.test?.at(-1) ?? '';
  assert.ok(dockerfile.includes(check), check);
  const variables = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name));
  assert.ok(variables.size > 0);
  for (const name of variables) assert.match(page, new RegExp(`^${name}=`, 'm'));
});

test('secrets in ops/compose.yaml are files that the page creates, and only their services have them', () => {
  const created = [...page.matchAll(/> (secrets\/[\w-]+)$/gm)].map(([, file = '']) => file);
  assert.deepEqual(
    Object.values(secrets)
      .map(({ file }) => file)
      .sort(),
    created.sort(),
  );
  const { signalpost, database } = services;
  const read = Object.values(signalpost?.environment ?? {}).filter((value) =>
    value.startsWith('/run/secrets/'),
  );
  assert.deepEqual(
    read.map((path) => path.slice('/run/secrets/'.length)).sort(),
    [...(signalpost?.secrets ?? [])].sort(),
  );
  const used = new Set([...(signalpost?.secrets ?? []), ...(database?.secrets ?? [])]);
  assert.deepEqual([...used].sort(), Object.keys(secrets).sort());
  for (const name of Object.keys(signalpost?.environment ?? {}))
    assert.ok(!secretNames.some((secret) => secret === name), name);
});

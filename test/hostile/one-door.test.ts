import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { dropInLimits } from '../../src/drop-in/drop-ins.ts';
import { findLimit } from '../../src/host/http/limits/limit-routes.ts';
import { type RouteLimit, routeLimits } from '../../src/host/http/limits/route-limits.ts';
import { managementLimits } from '../../src/operating/management/management-limits.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const routes: RouteOptions[] = [];
const listen = (message: unknown): void => {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  fastify.addHook('onRoute', (route) => void routes.push(route));
};
channel('fastify.initialization').subscribe(listen);
const { url: databaseUrl } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
channel('fastify.initialization').unsubscribe(listen);

const limits: readonly RouteLimit[] = [...routeLimits, ...dropInLimits, ...managementLimits];
/** Who calls public routes, as the table of limits words it. */
const publicCallers = new Set([
  'anyone',
  'anyone with the link',
  'a browser',
  'a registered client',
  'a metrics reader',
  'the relay',
]);

/** They bypass the framework, so they can't carry what it keeps of a route; `admit-caller.ts` asks `authorize`. */
const sends: Readonly<Record<string, string>> = {
  '/ete/v1/email/:accountId': 'messages:send-content',
  '/ete/v1/email/:accountId/:templateId/batch': 'messages:send',
  '/ete/v1/email/*': 'messages:send',
};

/** What a route asks of its callers; undefined if it is public. */
function accessOf({ url, config }: RouteOptions): string | undefined {
  if (Object.hasOwn(sends, url)) return sends[url];
  return config?.access === 'public' ? undefined : config?.access;
}

function methodsOf({ method }: RouteOptions): readonly string[] {
  return [method].flat();
}

test('ASVS 4.0.3 4.1.1: every route of the running service is public, or an operation that authorize() decides about', () => {
  const registered = routes.filter(({ config }) => config?.refusesAll !== true);
  assert.ok(registered.length > 200, `${registered.length} routes`);
  const wrong = registered.flatMap((route) => {
    const limit = findLimit(limits, methodsOf(route), route.url);
    const isPublic = accessOf(route) === undefined;
    return isPublic === publicCallers.has(limit?.caller ?? '')
      ? []
      : [
          `${methodsOf(route)} ${route.url} is ${accessOf(route) ?? 'public'}, for ${limit?.caller}`,
        ];
  });
  assert.deepEqual(wrong, []);
});

test('ASVS 4.0.3 4.1.1: a stranger gets nowhere with an operation', async () => {
  for (const route of routes) {
    if (route.config?.refusesAll === true || accessOf(route) === undefined) continue;
    const [method = 'GET'] = methodsOf(route);
    if (method === 'HEAD') continue;
    const path = route.url.replaceAll(/:\w+/g, '1').replace('*', '1');
    const response = await fetch(service.url + path, { method, redirect: 'manual' });
    const isSignIn = /^\/sign-in\?/.test(response.headers.get('location') ?? '');
    // Amazon has a status of its own for a request without a signature.
    const isUnsigned = /MissingAuthenticationToken/.test(
      response.headers.get('x-amzn-errortype') ?? (await response.text()),
    );
    const isRefused =
      [400, 401].includes(response.status) ||
      (response.status === 303 && isSignIn) ||
      (response.status === 403 && isUnsigned && /^\/ses\b/.test(path));
    assert.ok(isRefused, `${method} ${path}: ${response.status}`);
  }
});

test('only the door of pages, the management API and the inbox get to know who is signed in', async () => {
  const knowing: string[] = [];
  const root = join(import.meta.dirname, '../../src');
  for await (const file of glob('**/*.ts', { cwd: root }))
    if (/\.(?:findSignedIn|identify)\(/.test(await readFile(join(root, file), 'utf8')))
      knowing.push(file);
  assert.deepEqual(knowing.sort(), [
    'accounts/sign-in/browser/browser-sessions.ts',
    'accounts/sign-in/browser/page-door.ts',
    'operating/management/access/admit-actor.ts',
    'sending/inbox/inbox-access.ts',
  ]);
});

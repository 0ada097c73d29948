import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { pino } from 'pino';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { logIntoLines } from '../../support/log-into-lines.ts';
import { testRoute } from '../../support/test-route.ts';

const routes = [testRoute('GET', '/*')];

function serverThatLogs(level: string) {
  const { log, lines } = logIntoLines(level);
  const http = createHttp({ log, trustProxy: [], routes });
  http.get('/fails', () => Promise.reject(new Error('broken')));
  http.get('/works', () => 'fine');
  return { http, lines };
}

test('each log line of a request has its id, and no other line does', async () => {
  const { http, lines } = serverThatLogs('debug');
  const [one, other] = await Promise.all([http.inject('/fails'), http.inject('/works')]);
  const ids = (message: string) =>
    lines.filter(({ msg }) => msg === message).map((line) => line.requestId);
  assert.deepEqual(ids('request failed'), [one.headers['x-request-id']]);
  assert.deepEqual(
    new Set(ids('answered')),
    new Set([one.headers['x-request-id'], other.headers['x-request-id']]),
  );
  await http.close();
});

test('a request logs nothing below the level', async () => {
  const { http, lines } = serverThatLogs('warn');
  await http.inject('/works');
  assert.deepEqual(lines, []);
  await http.close();
});

test('no logger is created for a request that logs nothing', async (t) => {
  const log = pino({ level: 'info' }, new Writable());
  const made = t.mock.method(log, 'child');
  const http = createHttp({ log, trustProxy: [], routes });
  http.get('/works', () => 'fine');
  const before = made.mock.callCount();
  assert.equal((await http.inject('/works')).statusCode, 200);
  assert.equal(made.mock.callCount(), before);
  await http.close();
});

test('an error is logged with its stack', async () => {
  const { http, lines } = serverThatLogs('warn');
  await http.inject('/fails');
  const [stack] = lines.map(({ err }) => (err as { readonly stack: string }).stack);
  assert.match(stack ?? '', /broken[\s\S]+request-log\.test/);
  await http.close();
});

test("a child of a request's log has the request id too", async () => {
  const { http, lines } = serverThatLogs('info');
  http.get('/child', (request) => {
    request.log.child({ part: 'inner' }).info('from a child');
    return 'fine';
  });
  const response = await http.inject('/child');
  assert.equal(lines[0]?.requestId, response.headers['x-request-id']);
  assert.equal(lines[0]?.part, 'inner');
  await http.close();
});

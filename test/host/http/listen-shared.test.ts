import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createLog } from '../../../src/base/values/log.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { canListenShared, listenShared } from '../../../src/host/http/listen-shared.ts';
import { choosePort } from '../../../src/operating/command/listen.ts';

test('a burst of connections is accepted in a few turns of the event loop, and all close with the server', {
  skip: !canListenShared,
}, async () => {
  const http = createHttp({ log: createLog('silent'), trustProxy: [], routes: [] });
  const port = await choosePort({ host: '127.0.0.1', port: 0 });
  await listenShared(http, '127.0.0.1', port);
  let turn = 0;
  let counting = true;
  const count = (): void => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  const turns = new Set<number>();
  let accepted = 0;
  const all = new Promise<void>((resolve) => {
    http.server.on('connection', () => {
      turns.add(turn);
      accepted += 1;
      if (accepted === 64) resolve();
    });
  });
  const clients = Array.from({ length: 64 }, () => connect(port, '127.0.0.1'));
  count();
  await all.finally(() => {
    counting = false;
  });
  assert.ok(turns.size < 32, String(turns.size));
  const ended = clients.map((client) => once(client, 'close'));
  for (const client of clients) client.resume();
  await http.close();
  await Promise.all(ended);
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), /ECONNREFUSED/);
});

test('closing waits for every request in progress, whichever socket accepted its connection', {
  skip: !canListenShared,
}, async () => {
  const http = createHttp({
    log: createLog('silent'),
    trustProxy: [],
    routes: [
      {
        methods: ['GET'],
        path: '/slow/:number',
        caller: 'anyone',
        known: false,
        bodyBytes: 0,
        bodySeconds: 1,
      },
    ],
  });
  const count = 32;
  let answered = 0;
  const releases = new Map<number, () => void>();
  const arrivals = new EventEmitter();
  http.get<{ Params: { number: string } }>('/slow/:number', async ({ params }) => {
    const released = new Promise<void>((resolve) => releases.set(Number(params.number), resolve));
    if (releases.size === count) arrivals.emit('all');
    await released;
    answered += 1;
    return params.number;
  });
  const port = await choosePort({ host: '127.0.0.1', port: 0 });
  await listenShared(http, '127.0.0.1', port);
  const all = once(arrivals, 'all');
  const responses = Array.from({ length: count }, async (_, number) => {
    const response = await fetch(`http://127.0.0.1:${port}/slow/${number}`);
    return response.text();
  });
  await all;
  const itsOwnClosed = once(http.server, 'close');
  const answeredBeforeClosed = http.close().then(() => answered);
  const getConnections = promisify(http.server.getConnections.bind(http.server));
  for (const [number, response] of responses.entries()) {
    if ((await getConnections()) === 0) await itsOwnClosed;
    releases.get(number)?.();
    assert.equal(await response, String(number));
  }
  assert.equal(await answeredBeforeClosed, count);
});

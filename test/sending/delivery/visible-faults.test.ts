import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { SmtpTimeouts } from '../../../src/sending/delivery/smtp-session.ts';
import { DeliveryWorld } from '../../support/delivery-world.ts';
import { type RudeSteps, startRudeServer } from '../../support/rude-server.ts';

const world = await DeliveryWorld.create();
afterEach(() => world.close());

/** For the step to which a server never replies; the other steps keep the default timeout for a busy machine. */
const short = 300;

/** The server's behavior, the resulting state, the displayed reason, and the step with a short timeout. */
const faults: readonly (readonly [
  what: string,
  steps: RudeSteps,
  state: string,
  why: RegExp,
  timeouts?: Partial<SmtpTimeouts>,
])[] = [
  [
    'says nothing at all',
    { greeting: () => 'silence' },
    'deferred',
    /did not respond in time/,
    { connect: short, greeting: short },
  ],
  ['hangs up at MAIL', { MAIL: () => 'hang up' }, 'deferred', /closed the connection/],
  [
    'answers 421 to all',
    { MAIL: () => '421 4.3.2 Busy' },
    'deferred',
    /temporarily rejected the sender: 421 4.3.2 Busy/,
  ],
  [
    'says one byte and no more',
    {
      RCPT: (socket) => {
        socket.write('2');
        return 'silence';
      },
    },
    'deferred',
    /did not respond in time/,
    { command: short },
  ],
  [
    'refuses with 100 kB',
    { RCPT: () => `451 4.7.1 ${'so '.repeat(33_000)}` },
    'deferred',
    /^the server temporarily rejected the recipient: 451 4\.7\.1 so so .{100,1000}$/,
  ],
  [
    'refuses with 10,000 lines',
    { RCPT: () => `${'451-4.7.1 more\r\n'.repeat(9_999)}451 4.7.1 end` },
    'deferred',
    /^the server temporarily rejected the recipient: 451 4\.7\.1 more more /,
  ],
  ['hangs up after the dot', { dot: () => 'hang up' }, 'uncertain', /may have been delivered/],
  [
    'says nothing to the dot',
    { dot: () => 'silence' },
    'uncertain',
    /may have been delivered/,
    { final: short },
  ],
];

for (const [what, steps, state, why, timeouts = {}] of faults) {
  test(`a server that ${what}: the message is ${state}, shows the reason and the next attempt, and is sent at that time`, async () => {
    let rude = true;
    const fixableSteps = Object.fromEntries(
      Object.entries(steps).map(([step, act]) => [
        step,
        (socket: Parameters<typeof act>[0]) => (rude ? act(socket) : undefined),
      ]),
    );
    const server = await startRudeServer(fixableSteps);
    world.deliverTo(server.port, { timeouts });
    const id = await world.accept();
    await world.waitForState(id, state);
    const entry = await world.waitUntilIdle(id);
    assert.match(entry.reason ?? '', why);
    assert.ok(entry.due_in > 0 && entry.due_in < 80, `due in ${entry.due_in}`);
    const [event] = await world.events(id);
    assert.equal(event?.kind, state);
    assert.ok(JSON.stringify(event.detail).length < 32_000);
    assert.ok(Array.isArray(event.detail.transcript));
    await world.close();
    rude = false;
    await world.clock.advance(80_000);
    world.deliverTo(server.port);
    await world.waitForState(id, 'delivered');
  });
}

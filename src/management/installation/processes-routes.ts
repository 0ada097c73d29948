import { Type } from 'typebox';
import { Nullable, strict, Time, Uuid } from '../../foundation/common-schemas.ts';
import { listProcesses } from '../../foundation/processes/process-store.ts';
import { pageOf } from '../answer/page.ts';
import { defineOperation } from '../operation.ts';

const ProcessView = Type.Object(
  {
    id: Uuid,
    host: Type.String({ description: 'Name of its machine or container.' }),
    pid: Type.Integer({ description: 'Its process ID there.' }),
    version: Type.String(),
    roles: Type.Array(Type.String(), {
      description: 'What it does: `http`, `management`, `smtp`, `worker`.',
    }),
    state: Type.Enum(['running', 'vanished'], {
      description:
        '`vanished`: it hasn’t reported for 15 seconds and didn’t say that it stops. It’s removed after an hour.',
    }),
    startedAt: Time('When it started.'),
    seenAt: Time('When it last reported.'),
    inFlight: Type.Integer({
      description:
        'Messages that it’s sending. Those of a vanished process go to others once their leases expire.',
    }),
    delayMs: Nullable(
      Type.Integer({
        description:
          'How late its timers run, in milliseconds; more than a few dozen means that it’s overloaded. Null once it vanished.',
      }),
    ),
  },
  { ...strict, title: 'ServiceProcess' },
);

export const listServiceProcesses = defineOperation({
  id: 'listProcesses',
  summary: 'List the running processes of the service',
  description: 'Each reports every five seconds.',
  answer: pageOf(ProcessView),
  async handle(call) {
    const processes = await listProcesses(call.dependencies.database.kysely);
    return {
      items: processes.map((process) => ({
        ...process,
        roles: [...process.roles],
        delayMs: process.state === 'vanished' ? null : process.delayMs,
      })),
      nextCursor: null,
    };
  },
});

import { Type } from 'typebox';
import { strict, Time } from '../answer/schema-parts.ts';
import {
  removeResource,
  requireResource,
  saveResource,
  type Transaction,
} from '../change-resource.ts';
import { accountOf, type Call, endpoint } from '../endpoint.ts';
import { readPause } from './queue-page-store.ts';

const PauseView = Type.Object(
  { destination: Type.String(), pausedAt: Time('Since when.') },
  { ...strict, title: 'Pause' },
);

function pauseChange(call: Call, paused: boolean) {
  const { id: accountId } = accountOf(call);
  const { destination } = call.params;
  return {
    kind: 'pause',
    id: destination,
    async read(transaction: Transaction) {
      const pausedAt = await readPause(transaction, accountId, destination);
      return pausedAt && { destination, pausedAt };
    },
    async write(transaction: Transaction) {
      await call.parts.controls.setPause(transaction, accountId, destination, paused);
    },
  };
}

export const getPause = endpoint({
  id: 'getPause',
  summary: 'Read since when mail to a destination is held back',
  answer: PauseView,
  handle: (call) => requireResource(call, pauseChange(call, true)),
});

export const pauseDestination = endpoint({
  id: 'pauseDestination',
  summary: 'Hold mail to a destination back, also what comes later',
  answer: PauseView,
  conditional: true,
  handle: (call) => saveResource(call, pauseChange(call, true)),
});

export const resumeDestination = endpoint({
  id: 'resumeDestination',
  summary: 'Let mail to a destination go again',
  conditional: true,
  async handle(call) {
    await removeResource(call, pauseChange(call, false));
    const { controls, log } = call.parts;
    // The pause is gone whatever happens here: what is not let go now comes up by itself.
    await controls.release(accountOf(call).id, call.params.destination).catch((error: unknown) => {
      log.warn({ err: error }, 'messages that waited for a pause are not all let go');
    });
  },
});

import { Type } from 'typebox';
import { strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { removeResource, requireResource, saveResource } from '../save-resource.ts';
import { readPausedAt } from './queue-page-store.ts';

const PauseView = Type.Object(
  { destination: Type.String(), pausedAt: Time('When it was paused.') },
  { ...strict, title: 'Pause' },
);

function pauseChange(call: OperationCall, paused: boolean) {
  const { id: accountId } = accountOf(call);
  const { destination } = call.params;
  return {
    kind: 'pause',
    id: destination,
    async read(transaction: DatabaseTransaction) {
      const pausedAt = await readPausedAt(transaction, accountId, destination);
      return pausedAt && { destination, pausedAt };
    },
    async write(transaction: DatabaseTransaction) {
      await call.dependencies.controls.setPause(transaction, accountId, destination, paused);
    },
  };
}

export const getPause = defineOperation({
  id: 'getPause',
  summary: 'Get the pause of a destination',
  answer: PauseView,
  handle: (call) => requireResource(call, pauseChange(call, true)),
});

export const pauseDestination = defineOperation({
  id: 'pauseDestination',
  summary: 'Pause mail to a destination',
  description: 'Applies to queued and future messages.',
  answer: PauseView,
  conditional: true,
  handle: (call) => saveResource(call, pauseChange(call, true)),
});

export const resumeDestination = defineOperation({
  id: 'resumeDestination',
  summary: 'Resume mail to a destination',
  conditional: true,
  // Removes a pause, but sets mail going.
  leaving: false,
  async handle(call) {
    await removeResource(call, pauseChange(call, false));
    const { controls, log } = call.dependencies;
    // The pause is already removed. Messages that aren't released here become due later anyway.
    await controls.release(accountOf(call).id, call.params.destination).catch((error: unknown) => {
      log.warn({ err: error }, 'could not release all messages of a removed pause');
    });
  },
});

import { Type } from 'typebox';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { NamedObject, Nullable, StrictObject, Time } from '../../../base/values/common-schemas.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { recordAudit, removeResource, requireResource, saveResource } from '../save-resource.ts';
import { readPausedAt, readWaitingDestinations } from './queue-page-store.ts';

const QueueView = NamedObject('Queue', {
  destinations: Type.Array(
    NamedObject('Destination', {
      destination: Type.String({ description: 'Domain of the To address.' }),
      waiting: Type.Integer(),
      held: Type.Integer({ description: 'How many of these are held for review.' }),
      scheduled: Type.Integer({
        description: 'How many of these wait for their send time. A retry doesn’t send them.',
      }),
      nextAttemptAt: Nullable(Time('When the next attempt is due.')),
      reason: Nullable(
        Type.String({
          description: 'Most common reason for waiting; null if most are simply queued.',
        }),
      ),
    }),
  ),
  partial: Type.Boolean({
    description:
      'True if 10,000 or more messages are waiting; the counts then cover the oldest 10,000.',
  }),
  paused: Type.Array(Type.String(), {
    description: 'Paused destination domains; `*` means all.',
  }),
});

export const getQueue = defineOperation({
  id: 'getQueue',
  summary: 'Get the queue by destination',
  answer: QueueView,
  async handle(call) {
    const { id } = accountOf(call);
    const [waiting, paused] = await Promise.all([
      readWaitingDestinations(call.dependencies.database.kysely, id),
      call.dependencies.controls.pausedDestinations(id),
    ]);
    return { ...waiting, paused };
  },
});

function controlQueue(action: 'retry' | 'cancel') {
  return defineOperation({
    id: `${action}Queue`,
    summary: action === 'retry' ? 'Retry all queued messages now' : 'Cancel all queued messages',
    body: StrictObject({
      destination: Type.Optional(
        Type.String({ description: 'Only mail to this domain.', maxLength: 253 }),
      ),
    }),
    answer: NamedObject('QueueControlResult', { changed: Type.Integer(), busy: Type.Integer() }),
    async handle(call) {
      const destination = call.body.destination?.toLowerCase();
      const { id: accountId } = accountOf(call);
      return call.dependencies.controls.control(action, { accountId, destination }, (transaction) =>
        recordAudit(call, transaction, `queue_${action}`, destination ?? '*'),
      );
    },
  });
}

export const retryQueue = controlQueue('retry');
export const cancelQueue = controlQueue('cancel');

const PauseView = NamedObject('Pause', {
  destination: Type.String(),
  pausedAt: Time('When it was paused.'),
});

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

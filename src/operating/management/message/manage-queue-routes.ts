import { Type } from 'typebox';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  StrictObject,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf } from '../resource-routes.ts';
import { recordAudit, removeResource, requireResource, saveResource } from '../save-resource.ts';
import { readPausedAt, readWaitingDestinations } from './queue-page-store.ts';

const QueueView = NamedObject('Queue', {
  destinations: Type.Array(
    NamedObject('Destination', {
      destination: Text('Domain of the To address.'),
      waiting: Type.Integer(),
      held: Whole('How many of these are held for review.'),
      scheduled: Whole('How many of these wait for their send time. A retry doesn’t send them.'),
      nextAttemptAt: Nullable(Time('When the next attempt is due.')),
      reason: Nullable(Text('Most common reason for waiting; null if most are simply queued.')),
    }),
  ),
  partial: Flag(
    'True if 10,000 or more messages are waiting; the counts then cover the oldest 10,000.',
  ),
  paused: Type.Array(Type.String(), { description: 'Paused destination domains; `*` means all.' }),
});

export const getQueue = defineOperation({
  id: 'getQueue',
  summary: 'Get the queue by destination',
  answer: QueueView,
  async handle(call) {
    const { accountId } = call.params;
    const [waiting, paused] = await Promise.all([
      readWaitingDestinations(call.kysely, accountId),
      call.dependencies.controls.pausedDestinations(accountId),
    ]);
    return { ...waiting, paused };
  },
});

function controlQueue(action: 'retry' | 'cancel') {
  return defineOperation({
    id: `${action}Queue`,
    summary: action === 'retry' ? 'Retry all queued messages now' : 'Cancel all queued messages',
    body: StrictObject({
      destination: Type.Optional(Text('Only mail to this domain.', { maxLength: 253 })),
    }),
    answer: NamedObject('QueueControlResult', { changed: Type.Integer(), busy: Type.Integer() }),
    async handle(call) {
      const destination = call.body.destination?.toLowerCase();
      const { accountId } = call.params;
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

const pauseOf = resourceOf({
  kind: 'pause',
  id: 'destination',
  async read(transaction, { params: { accountId, destination } }) {
    const pausedAt = await readPausedAt(transaction, accountId, destination);
    return pausedAt && { destination, pausedAt };
  },
});

function setPause({ dependencies, params }: OperationCall, paused: boolean) {
  return (transaction: DatabaseTransaction) =>
    dependencies.controls.setPause(transaction, params.accountId, params.destination, paused);
}

export const getPause = defineOperation({
  id: 'getPause',
  summary: 'Get the pause of a destination',
  answer: PauseView,
  handle: (call) => requireResource(call, pauseOf(call)),
});

export const pauseDestination = defineOperation({
  id: 'pauseDestination',
  summary: 'Pause mail to a destination',
  description: 'Applies to queued and future messages.',
  answer: PauseView,
  conditional: true,
  handle: (call) => saveResource(call, { ...pauseOf(call), write: setPause(call, true) }),
});

export const resumeDestination = defineOperation({
  id: 'resumeDestination',
  summary: 'Resume mail to a destination',
  conditional: true,
  // Removes a pause, but sets mail going.
  leaving: false,
  async handle(call) {
    await removeResource(call, { ...pauseOf(call), write: setPause(call, false) });
    const { controls, log } = call.dependencies;
    // The pause is already removed. Messages that aren't released here become due later anyway.
    await controls
      .release(call.params.accountId, call.params.destination)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'could not release all messages of a removed pause');
      });
  },
});

import { Type } from 'typebox';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { recordAudit } from '../save-resource.ts';
import { readWaitingDestinations } from './queue-page-store.ts';

const QueueView = Type.Object(
  {
    destinations: Type.Array(
      Type.Object(
        {
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
        },
        { ...strict, title: 'Destination' },
      ),
    ),
    partial: Type.Boolean({
      description:
        'True if 10,000 or more messages are waiting; the counts then cover the oldest 10,000.',
    }),
    paused: Type.Array(Type.String(), {
      description: 'Paused destination domains; `*` means all.',
    }),
  },
  { ...strict, title: 'Queue' },
);

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
    body: Type.Object(
      {
        destination: Type.Optional(
          Type.String({ description: 'Only mail to this domain.', maxLength: 253 }),
        ),
      },
      strict,
    ),
    answer: Type.Object(
      { changed: Type.Integer(), busy: Type.Integer() },
      { ...strict, title: 'QueueControlResult' },
    ),
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

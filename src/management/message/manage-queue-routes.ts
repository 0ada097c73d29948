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
          destination: Type.String({ description: 'Domain of the To addresses.' }),
          waiting: Type.Integer(),
          held: Type.Integer({ description: 'Of these, those that wait for a person.' }),
          nextAttemptAt: Nullable(Time('When the first of them is tried next.')),
          reason: Nullable(
            Type.String({
              description: 'Why most of them wait; null where most wait for their turn alone.',
            }),
          ),
        },
        { ...strict, title: 'Destination' },
      ),
    ),
    partial: Type.Boolean({
      description:
        'True where 10,000 messages or more wait: the numbers are those of the oldest 10,000.',
    }),
    paused: Type.Array(Type.String(), {
      description: 'Domains that the account’s mail does not go to now; `*` is all.',
    }),
  },
  { ...strict, title: 'Queue' },
);

export const getQueue = defineOperation({
  id: 'getQueue',
  summary: 'Read what waits, by destination, and what is paused',
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
    summary: action === 'retry' ? 'Try everything that waits now' : 'Cancel everything that waits',
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

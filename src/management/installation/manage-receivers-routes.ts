import { Type } from 'typebox';
import { findDestinationProfile } from '../../delivery/shaping/destination-profiles.ts';
import { type DestinationState, ShapingStore } from '../../delivery/shaping/shaping-store.ts';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { newId } from '../../foundation/ids.ts';
import { pageOf } from '../answer/page.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

const ReceiverView = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    rate: Type.Number({ description: 'Messages per second of all nodes together.' }),
    connections: Type.Integer(),
    sending: Type.Number({ description: 'Messages per second at this moment.' }),
    fixedRate: Nullable(Type.Number({ description: 'Set by a person; null: learnt.' })),
    fixedConnections: Nullable(Type.Integer()),
    messagesPerConnection: Type.Integer({ description: 'Messages that a connection carries.' }),
    fixedMessagesPerConnection: Nullable(Type.Integer()),
    session: Nullable(
      Type.Object(
        {
          messagesPerConnection: Type.Integer(),
          learntAt: Time('Since when.'),
          reason: Type.String({ description: 'What the receiver said when it took no more.' }),
        },
        {
          ...strict,
          title: 'LearntSession',
          description: 'What was learnt about connections; null: they carry as many as is usual.',
        },
      ),
    ),
    slowedAt: Nullable(Time('When the receiver asked for less last.')),
    slowedReason: Nullable(Type.String({ description: 'What it said.' })),
  },
  { ...strict, title: 'Receiver' },
);

export function shapingStoreOf(call: OperationCall): ShapingStore {
  return new ShapingStore(call.dependencies.database, newId(), () => call.dependencies.clock.now());
}

function viewReceiver(destination: DestinationState) {
  const { name, label, throttle: pace, override, slowedReason = null } = destination;
  const { session } = pace;
  const defaultPerConnection = findDestinationProfile(name).messagesPerConnection;
  return {
    name,
    label,
    rate: override.rate ?? pace.rate,
    connections: override.connections ?? pace.connections,
    sending: destination.othersSent,
    fixedRate: override.rate ?? null,
    fixedConnections: override.connections ?? null,
    messagesPerConnection:
      override.messagesPerConnection ?? session?.maxMessages ?? defaultPerConnection,
    fixedMessagesPerConnection: override.messagesPerConnection ?? null,
    session:
      session === undefined
        ? null
        : {
            messagesPerConnection: session.maxMessages,
            learntAt: new Date(session.learnedAt),
            reason: session.reason,
          },
    slowedAt: pace.slowedAt === undefined ? null : new Date(pace.slowedAt),
    slowedReason,
  };
}

export const listReceivers = defineOperation({
  id: 'listReceivers',
  summary: 'List the receivers that are delivered to, with their learnt pace',
  answer: pageOf(ReceiverView),
  async handle(call) {
    const all = await shapingStoreOf(call).list();
    return { items: all.map(viewReceiver), nextCursor: null };
  },
});

import { Type } from 'typebox';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { NamedObject, Nullable, strict, Time } from '../../../base/values/common-schemas.ts';
import { newId } from '../../../base/values/ids.ts';
import { findDestinationProfile } from '../../../sending/delivery/shaping/destination-profiles.ts';
import {
  type DestinationState,
  type RateOverride,
  ShapingStore,
} from '../../../sending/delivery/shaping/shaping-store.ts';
import { pageOf } from '../answer/page.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';

const ReceiverView = NamedObject('Receiver', {
  name: Type.String(),
  label: Type.String(),
  rate: Type.Number({ description: 'Messages per second, across all nodes.' }),
  connections: Type.Integer(),
  sending: Type.Number({ description: 'Current messages per second.' }),
  fixedRate: Nullable(Type.Number({ description: 'Set by an operator; null: learned.' })),
  fixedConnections: Nullable(Type.Integer()),
  messagesPerConnection: Type.Integer({ description: 'Max messages per connection.' }),
  fixedMessagesPerConnection: Nullable(Type.Integer()),
  session: Nullable(
    Type.Object(
      {
        messagesPerConnection: Type.Integer(),
        learntAt: Time('When it was learned.'),
        reason: Type.String({
          description: 'The receiving server’s reply when it stopped accepting messages.',
        }),
      },
      {
        ...strict,
        title: 'LearntSession',
        description: 'Learned limit per connection; null: the default applies.',
      },
    ),
  ),
  slowedAt: Nullable(Time('When the destination last throttled mail.')),
  slowedReason: Nullable(Type.String({ description: 'The receiving server’s reply.' })),
});

function shapingStoreOf(call: OperationCall): ShapingStore {
  return new ShapingStore(call.dependencies.database, newId(), () => call.dependencies.clock.now());
}

function viewReceiver(destination: DestinationState) {
  const { name, label, throttle, override, slowedReason = null } = destination;
  const { session } = throttle;
  const defaultPerConnection = findDestinationProfile(name).messagesPerConnection;
  return {
    name,
    label,
    rate: override.rate ?? throttle.rate,
    connections: override.connections ?? throttle.connections,
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
    slowedAt: throttle.slowedAt === undefined ? null : new Date(throttle.slowedAt),
    slowedReason,
  };
}

export const listReceivers = defineOperation({
  id: 'listReceivers',
  summary: 'List destinations with their rate limits',
  answer: pageOf(ReceiverView),
  async handle(call) {
    const all = await shapingStoreOf(call).list();
    return { items: all.map(viewReceiver), nextCursor: null };
  },
});

/** Manual rate limits of a destination; null: learned. */
const settings = {
  rate: Nullable(
    Type.Number({
      description: 'Messages per second, across all nodes; null: learned.',
      exclusiveMinimum: 0,
      maximum: 100_000,
    }),
  ),
  connections: Nullable(
    Type.Integer({ description: 'null: learned.', minimum: 1, maximum: 10_000 }),
  ),
  messagesPerConnection: Nullable(
    Type.Integer({ description: 'null: learned.', minimum: 1, maximum: 100_000 }),
  ),
};

const SettingsView = NamedObject('ReceiverSettings', settings);

const SettingsBody = Type.Partial(Type.Object(settings), strict);

function viewReceiverSettings(override: RateOverride) {
  const { rate = null, connections = null, messagesPerConnection = null } = override;
  return { rate, connections, messagesPerConnection };
}

function settingsOf(call: OperationCall) {
  const { receiver } = call.params;
  return {
    kind: 'receiver',
    id: receiver,
    mustExist: true,
    async read(transaction: DatabaseTransaction) {
      const override = await shapingStoreOf(call).readOverride(receiver, transaction);
      return override && viewReceiverSettings(override);
    },
  };
}

export const receiverSettingsRoutes = resourceRoutes({
  path: '/installation/receivers/:receiver/settings',
  access: { read: 'operate', write: 'operate' },
  view: SettingsView,
  resource: settingsOf,
  get: {
    id: 'getReceiverSettings',
    summary: 'Get the manual rate limits of a destination',
  },
  put: {
    id: 'putReceiverSettings',
    summary: 'Set the rate limits of a destination',
    description: 'Omitted members stay unchanged; null returns to the learned value.',
    body: SettingsBody,
    write: (call) => (transaction, before) => {
      const { rate, connections, messagesPerConnection } = { ...before, ...call.body };
      const override = {
        rate: rate ?? undefined,
        connections: connections ?? undefined,
        messagesPerConnection: messagesPerConnection ?? undefined,
      };
      return shapingStoreOf(call).override(call.params.receiver, override, transaction);
    },
  },
});

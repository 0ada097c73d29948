import { Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  strict,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { newId } from '../../../base/values/ids.ts';
import { findDestinationProfile } from '../../../sending/delivery/shaping/destination-profiles.ts';
import {
  type DestinationState,
  ShapingStore,
} from '../../../sending/delivery/shaping/shaping-store.ts';
import { defineList } from '../answer/list-operations.ts';
import { viewOf } from '../answer/view-of.ts';
import type { OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';

const ReceiverView = NamedObject('Receiver', {
  name: Type.String(),
  label: Type.String(),
  rate: Type.Number({ description: 'Messages per second, across all nodes.' }),
  connections: Type.Integer(),
  sending: Type.Number({ description: 'Current messages per second.' }),
  fixedRate: Nullable(Type.Number({ description: 'Set by an operator; null: learned.' })),
  fixedConnections: Nullable(Type.Integer()),
  messagesPerConnection: Whole('Max messages per connection.'),
  fixedMessagesPerConnection: Nullable(Type.Integer()),
  session: Nullable(
    Type.Object(
      {
        messagesPerConnection: Type.Integer(),
        learntAt: Time('When it was learned.'),
        reason: Text('The receiving server’s reply when it stopped accepting messages.'),
      },
      {
        ...strict,
        title: 'LearntSession',
        description: 'Learned limit per connection; null: the default applies.',
      },
    ),
  ),
  slowedAt: Nullable(Time('When the destination last throttled mail.')),
  slowedReason: Nullable(Text('The receiving server’s reply.')),
});

function shapingStoreOf(call: OperationCall): ShapingStore {
  return new ShapingStore(call.dependencies.database, newId(), () => call.dependencies.clock.now());
}

function viewReceiver({
  name,
  label,
  throttle,
  override,
  othersSent,
  slowedReason,
}: DestinationState) {
  const { session, slowedAt } = throttle;
  const { rate, connections, messagesPerConnection } = override;
  const defaultPerConnection = findDestinationProfile(name).messagesPerConnection;
  return viewOf(ReceiverView)({
    name,
    label,
    rate: rate ?? throttle.rate,
    connections: connections ?? throttle.connections,
    sending: othersSent,
    fixedRate: rate,
    fixedConnections: connections,
    messagesPerConnection: messagesPerConnection ?? session?.maxMessages ?? defaultPerConnection,
    fixedMessagesPerConnection: messagesPerConnection,
    session: session && {
      messagesPerConnection: session.maxMessages,
      learntAt: new Date(session.learnedAt),
      reason: session.reason,
    },
    slowedAt: slowedAt === undefined ? null : new Date(slowedAt),
    slowedReason,
  });
}

export const listReceivers = defineList({
  id: 'listReceivers',
  summary: 'List destinations with their rate limits',
  item: ReceiverView,
  read: async (call) => (await shapingStoreOf(call).list()).map(viewReceiver),
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
  connections: Nullable(Whole('null: learned.', { minimum: 1, maximum: 10_000 })),
  messagesPerConnection: Nullable(Whole('null: learned.', { minimum: 1, maximum: 100_000 })),
};

const SettingsView = NamedObject('ReceiverSettings', settings);

const SettingsBody = Type.Partial(Type.Object(settings), strict);

const settingsOf = resourceOf({
  kind: 'receiver',
  id: 'receiver',
  mustExist: true,
  async read(transaction, call) {
    const override = await shapingStoreOf(call).readOverride(call.params.receiver, transaction);
    return override && viewOf(SettingsView)(override);
  },
});

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

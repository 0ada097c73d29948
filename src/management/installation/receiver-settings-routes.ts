import { Type } from 'typebox';
import type { RateOverride } from '../../delivery/shaping/shaping-store.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { shapingStoreOf } from './manage-receivers-routes.ts';

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

const SettingsView = Type.Object(settings, { ...strict, title: 'ReceiverSettings' });

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

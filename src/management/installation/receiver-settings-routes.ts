import { Type } from 'typebox';
import type { RateOverride } from '../../delivery/shaping/shaping-store.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { shapingStoreOf } from './manage-receivers-routes.ts';

/** What people decide about the pace of a receiver; null: it is learnt. */
const settings = {
  rate: Nullable(
    Type.Number({
      description: 'Messages per second of all nodes together; null: learnt.',
      exclusiveMinimum: 0,
      maximum: 100_000,
    }),
  ),
  connections: Nullable(
    Type.Integer({ description: 'null: learnt.', minimum: 1, maximum: 10_000 }),
  ),
  messagesPerConnection: Nullable(
    Type.Integer({ description: 'null: learnt.', minimum: 1, maximum: 100_000 }),
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
    summary: 'Read what people decided about the pace of a receiver',
  },
  put: {
    id: 'putReceiverSettings',
    summary: 'Fix the pace of a receiver, or let it be learnt again',
    description: 'What is left out stays; null is learnt.',
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

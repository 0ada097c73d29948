import { Type } from 'typebox';
import { type RateOverride, ShapingStore } from '../../delivery/shaping/shaping-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { newId } from '../../foundation/ids.ts';
import { Nullable, strict } from '../answer/common-schemas.ts';
import { notFound } from '../answer/problem.ts';
import { requireResource, saveResource } from '../change-resource.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

/** Manual rate limits of a receiver; null: learned. */
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

function shapingStoreOf(call: OperationCall): ShapingStore {
  return new ShapingStore(call.dependencies.database, newId(), () => call.dependencies.clock.now());
}

function settingsChange(call: OperationCall) {
  const { receiver } = call.params;
  return {
    kind: 'receiver',
    id: receiver,
    async read(transaction: DatabaseTransaction) {
      const override = await shapingStoreOf(call).readOverride(receiver, transaction);
      return override && viewReceiverSettings(override);
    },
  };
}

export const getReceiverSettings = defineOperation({
  id: 'getReceiverSettings',
  summary: 'Get the manual rate limits of a receiver',
  answer: SettingsView,
  handle: (call) => requireResource(call, settingsChange(call)),
});

export const putReceiverSettings = defineOperation({
  id: 'putReceiverSettings',
  summary: 'Set the rate limits of a receiver',
  description: 'Omitted members stay unchanged; null returns to the learned value.',
  body: SettingsBody,
  answer: SettingsView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...settingsChange(call),
      async write(transaction, before) {
        if (before === undefined) throw notFound('receiver');
        const { rate, connections, messagesPerConnection } = { ...before, ...call.body };
        const override = {
          rate: rate ?? undefined,
          connections: connections ?? undefined,
          messagesPerConnection: messagesPerConnection ?? undefined,
        };
        await shapingStoreOf(call).override(call.params.receiver, override, transaction);
      },
    }),
});

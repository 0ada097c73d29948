import { Type } from 'typebox';
import { type RateOverride, ShapingStore } from '../../delivery/shaping/shaping-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { newId } from '../../foundation/ids.ts';
import { Nullable, strict } from '../answer/common-schemas.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { requireResource, saveResource } from '../save-resource.ts';

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
  summary: 'Read what people decided about the pace of a receiver',
  answer: SettingsView,
  handle: (call) => requireResource(call, settingsChange(call)),
});

export const putReceiverSettings = defineOperation({
  id: 'putReceiverSettings',
  summary: 'Fix the pace of a receiver, or let it be learnt again',
  description: 'What is left out stays; null is learnt.',
  body: SettingsBody,
  answer: SettingsView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...settingsChange(call),
      mustExist: true,
      async write(transaction, before) {
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

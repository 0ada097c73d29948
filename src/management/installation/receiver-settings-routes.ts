import { Type } from 'typebox';
import { type Override, ShapingStore } from '../../delivery/shaping/shaping-store.ts';
import { newId } from '../../foundation/ids.ts';
import { notFound } from '../answer/problem.ts';
import { Nullable, strict } from '../answer/schema-parts.ts';
import { requireResource, saveResource, type Transaction } from '../change-resource.ts';
import { type Call, endpoint } from '../endpoint.ts';

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

function viewSettings(override: Override) {
  const { rate = null, connections = null, messagesPerConnection = null } = override;
  return { rate, connections, messagesPerConnection };
}

function storeOf(call: Call): ShapingStore {
  return new ShapingStore(call.parts.database, newId(), () => call.parts.clock.now());
}

function settingsChange(call: Call) {
  const { receiver } = call.params;
  return {
    kind: 'receiver',
    id: receiver,
    async read(transaction: Transaction) {
      const override = await storeOf(call).readOverride(receiver, transaction);
      return override && viewSettings(override);
    },
  };
}

export const getReceiverSettings = endpoint({
  id: 'getReceiverSettings',
  summary: 'Read what people decided about the pace of a receiver',
  answer: SettingsView,
  handle: (call) => requireResource(call, settingsChange(call)),
});

export const putReceiverSettings = endpoint({
  id: 'putReceiverSettings',
  summary: 'Fix the pace of a receiver, or let it be learnt again',
  description: 'What is left out stays; null is learnt.',
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
        await storeOf(call).override(call.params.receiver, override, transaction);
      },
    }),
});

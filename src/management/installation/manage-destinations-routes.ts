import { Type } from 'typebox';
import { type KnownDestination, ShapingStore } from '../../delivery/shaping/shaping-store.ts';
import { newId } from '../../foundation/ids.ts';
import { pageOf } from '../answer/page.ts';
import { invalid } from '../answer/problem.ts';
import { Nullable, strict, Time } from '../answer/schema-parts.ts';
import { inTransaction, record } from '../change-resource.ts';
import { type Call, endpoint } from '../endpoint.ts';

const ReceiverView = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    rate: Type.Number({ description: 'Messages per second of all nodes together.' }),
    connections: Type.Integer(),
    sending: Type.Number({ description: 'Messages per second at this moment.' }),
    fixedRate: Nullable(Type.Number({ description: 'Set by a person; null: learnt.' })),
    fixedConnections: Nullable(Type.Integer()),
    slowedAt: Nullable(Time('When the receiver asked for less last.')),
    slowedReason: Nullable(Type.String({ description: 'What it said.' })),
  },
  { ...strict, title: 'Receiver' },
);

function storeOf(call: Call): ShapingStore {
  return new ShapingStore(call.parts.database, newId(), () => call.parts.clock.now());
}

function viewReceiver(one: KnownDestination) {
  const { name, label, pace, overrideRate, overrideConnections, slowedReason = null } = one;
  return {
    name,
    label,
    rate: overrideRate ?? pace.rate,
    connections: overrideConnections ?? pace.connections,
    sending: one.othersSent,
    fixedRate: overrideRate ?? null,
    fixedConnections: overrideConnections ?? null,
    slowedAt: pace.slowedAt === undefined ? null : new Date(pace.slowedAt),
    slowedReason,
  };
}

export const listReceivers = endpoint({
  id: 'listReceivers',
  summary: 'List the receivers that are delivered to, with their learnt pace',
  answer: pageOf(ReceiverView),
  async handle(call) {
    const all = await storeOf(call).list();
    return { items: all.map(viewReceiver), nextCursor: null };
  },
});

export const setReceiverPace = endpoint({
  id: 'setReceiverPace',
  summary: 'Fix the pace of a receiver, or let it be learnt again',
  description: 'What is left out, or null, is learnt.',
  body: Type.Object(
    {
      name: Type.String({ description: 'The receiver, as listed.', maxLength: 253 }),
      rate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100_000 })),
      connections: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    },
    strict,
  ),
  async handle(call) {
    const { name, rate, connections } = call.body;
    return inTransaction(call, async (transaction) => {
      if (!(await storeOf(call).override(name, rate, connections, transaction)))
        throw invalid('name', 'is no receiver that is known');
      await record(call, transaction, 'receiver_pace_set', name, {
        ...(rate === undefined ? {} : { rate }),
        ...(connections === undefined ? {} : { connections }),
      });
      return undefined;
    });
  },
});

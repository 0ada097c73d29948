import { Type } from 'typebox';
import { findPersonByEmail, setOperator } from '../../account/person-store.ts';
import { notFound } from '../answer/problem.ts';
import { Nullable, strict } from '../answer/schema-parts.ts';
import { inTransaction, record } from '../change-resource.ts';
import { type Call, endpoint } from '../endpoint.ts';
import { poolsOf } from '../sender/domain-settings-routes.ts';

export const getSettings = endpoint({
  id: 'getSettings',
  summary: 'Read the settings of the installation',
  description: 'They come from the environment of the service; secrets are not among them.',
  answer: Type.Object(
    {
      version: Type.String(),
      publicUrl: Type.String(),
      delivery: Type.String({ description: '`inbox`, `relay` or `direct`.' }),
      deliveryRedirect: Nullable(
        Type.String({ description: 'Every message goes to this address instead.' }),
      ),
      deliveryAllow: Type.Array(Type.String(), {
        description: 'Only these domains are delivered to; empty: all.',
      }),
      hostname: Nullable(Type.String({ description: 'Name given in EHLO.' })),
      sourcePools: Type.Array(Type.String(), {
        description: 'Pools of source addresses that sending domains may use.',
      }),
    },
    { ...strict, title: 'Settings' },
  ),
  async handle({ parts }) {
    const {
      version,
      delivery,
      deliveryRedirect = null,
      deliveryAllow,
      hostname = null,
      direct,
    } = parts.facts;
    return {
      version,
      publicUrl: parts.publicUrl(),
      delivery,
      deliveryRedirect,
      deliveryAllow,
      hostname,
      sourcePools: poolsOf(direct.sources),
    };
  },
});

function nameOperator(operator: boolean) {
  return async (call: Call): Promise<undefined> =>
    inTransaction(call, async (transaction) => {
      const { email } = call.params;
      const person = await findPersonByEmail(transaction, email);
      if (person === undefined) throw notFound('person');
      await setOperator(transaction, person.id, operator);
      await record(call, transaction, operator ? 'operator_named' : 'operator_removed', email);
      return undefined;
    });
}

export const putOperator = endpoint({
  id: 'putOperator',
  summary: 'Name a person operator of the installation',
  description: 'As long as nobody is named, whoever owns every account is operator.',
  handle: nameOperator(true),
});

export const deleteOperator = endpoint({
  id: 'deleteOperator',
  summary: 'Take the rank of operator from a person',
  handle: nameOperator(false),
});

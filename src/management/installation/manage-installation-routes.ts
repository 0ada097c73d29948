import { Type } from 'typebox';
import { findPersonByEmail, setOperator } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { Nullable, strict } from '../answer/common-schemas.ts';
import { notFound } from '../answer/problem.ts';
import { removeResource, requireResource, saveResource } from '../change-resource.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { poolsOf } from '../sender/domain-settings-routes.ts';
import { readPeople } from './people-page-store.ts';

export const getSettings = defineOperation({
  id: 'getSettings',
  summary: 'Get the settings of the installation',
  description: 'Set through environment variables. Secrets aren’t included.',
  answer: Type.Object(
    {
      version: Type.String(),
      publicUrl: Type.String(),
      delivery: Type.String({ description: '`inbox`, `relay` or `direct`.' }),
      deliveryRedirect: Nullable(
        Type.String({ description: 'If set, every message is sent to this address instead.' }),
      ),
      deliveryAllow: Type.Array(Type.String(), {
        description: 'If not empty, only these domains are delivered to.',
      }),
      hostname: Nullable(Type.String({ description: 'Host name sent in EHLO.' })),
      sourcePools: Type.Array(Type.String(), {
        description: 'Source address pools available to sending domains.',
      }),
    },
    { ...strict, title: 'Settings' },
  ),
  async handle({ dependencies }) {
    const {
      version,
      delivery,
      deliveryRedirect = null,
      deliveryAllow,
      hostname = null,
      direct,
    } = dependencies.facts;
    return {
      version,
      publicUrl: dependencies.publicUrl(),
      delivery,
      deliveryRedirect,
      deliveryAllow,
      hostname,
      sourcePools: poolsOf(direct.sources),
    };
  },
});

const OperatorView = Type.Object(
  { email: Type.String(), name: Type.String() },
  { ...strict, title: 'Operator' },
);

function operatorChange(call: OperationCall, operator: boolean) {
  const { email } = call.params;
  return {
    kind: 'operator',
    id: email,
    async read(transaction: DatabaseTransaction) {
      const [found] = await readPeople(transaction, { email, operator: true });
      return found && { email: found.email, name: found.name };
    },
    async write(transaction: DatabaseTransaction) {
      const person = await findPersonByEmail(transaction, email);
      if (person === undefined) throw notFound('person');
      await setOperator(transaction, person.id, operator);
    },
  };
}

export const getOperator = defineOperation({
  id: 'getOperator',
  summary: 'Get an operator',
  answer: OperatorView,
  handle: (call) => requireResource(call, operatorChange(call, true)),
});

export const putOperator = defineOperation({
  id: 'putOperator',
  summary: 'Make a person an operator',
  answer: OperatorView,
  conditional: true,
  handle: (call) => saveResource(call, operatorChange(call, true)),
});

export const deleteOperator = defineOperation({
  id: 'deleteOperator',
  summary: 'Remove an operator',
  conditional: true,
  handle: (call) => removeResource(call, operatorChange(call, false)),
});

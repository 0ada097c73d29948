import { Type } from 'typebox';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import {
  changeIntegration,
  maxAllowance,
  readAllowanceUsage,
  readIntegrationOverviews,
} from '../../session/integration-control-store.ts';
import { Nullable, strict, Time } from '../answer/common-schemas.ts';
import { pageOf } from '../answer/page.ts';
import { requireResource, saveResource } from '../change-resource.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { requireIntegration } from './manage-integrations-routes.ts';

export const listAllowanceUses = defineOperation({
  id: 'listAllowanceUses',
  summary: 'List token request usage of an integration',
  description:
    'Initial token requests per person in the last hour. People without requests aren’t listed. Refresh requests don’t count.',
  answer: pageOf(
    Type.Object(
      {
        email: Type.String(),
        used: Type.Integer(),
        left: Type.Integer(),
        freeAt: Nullable(Time('When the next request is allowed; null if some are left.')),
      },
      { ...strict, title: 'AllowanceUse' },
    ),
  ),
  async handle(call) {
    const { clientId } = await requireIntegration(call);
    const { database, clock } = call.dependencies;
    const items = await readAllowanceUsage(database.kysely, clientId, clock.offset);
    return { items, nextCursor: null };
  },
});

const AllowanceView = Type.Object(
  {
    clientId: Type.String(),
    accountId: Type.String(),
    perHour: Type.Integer({
      description: 'Max initial token requests per person in a sliding hour.',
    }),
  },
  { ...strict, title: 'Allowance' },
);

function allowanceChange(call: OperationCall) {
  const { clientId } = call.params;
  return {
    kind: 'allowance',
    id: clientId,
    async read(transaction: DatabaseTransaction) {
      const [found] = await readIntegrationOverviews(transaction, clientId);
      return found && { clientId, accountId: found.accountId, perHour: found.allowance };
    },
  };
}

export const getAllowance = defineOperation({
  id: 'getAllowance',
  summary: 'Get the token request limit of an integration',
  answer: AllowanceView,
  handle: (call) => requireResource(call, allowanceChange(call)),
});

export const putAllowance = defineOperation({
  id: 'putAllowance',
  summary: 'Set the token request limit of an integration',
  description:
    'Takes effect immediately on every node, also for people who have reached the limit.',
  body: Type.Object({ perHour: Type.Integer({ minimum: 1, maximum: maxAllowance }) }, strict),
  answer: AllowanceView,
  conditional: true,
  async handle(call) {
    const { accountId } = await requireResource(call, allowanceChange(call));
    // Recorded in the audit log of the integration's account.
    const account = await call.dependencies.accounts.account(accountId);
    return saveResource(
      { ...call, account },
      {
        ...allowanceChange(call),
        async write(transaction) {
          const allowance = call.body.perHour;
          await changeIntegration(transaction, call.params.clientId, { allowance });
        },
      },
    );
  },
});

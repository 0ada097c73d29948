import { Type } from 'typebox';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import {
  changeIntegration,
  maxAllowance,
  readAllowanceUsage,
  readIntegrationOverviews,
} from '../../session/integration-control-store.ts';
import { pageOf } from '../answer/page.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { callerOf, requireResource, saveResource } from '../save-resource.ts';
import { requireIntegration } from './manage-integrations-routes.ts';

export const listAllowanceUses = defineOperation({
  id: 'listAllowanceUses',
  summary: 'List token request usage of an OAuth app',
  description:
    'Initial token requests per user in the last hour. Users without requests aren’t listed. Refresh requests don’t count.',
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
    const { database } = call.dependencies;
    const items = await readAllowanceUsage(database.kysely, clientId);
    return { items, nextCursor: null };
  },
});

const AllowanceView = Type.Object(
  {
    clientId: Type.String(),
    accountId: Type.String(),
    perHour: Type.Integer({
      description: 'Max initial token requests per user in a sliding hour.',
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
  summary: 'Get the token request limit of an OAuth app',
  answer: AllowanceView,
  handle: (call) => requireResource(call, allowanceChange(call)),
});

export const putAllowance = defineOperation({
  id: 'putAllowance',
  summary: 'Set the token request limit of an OAuth app',
  description:
    'Takes effect immediately on every node, including for users who have reached the limit.',
  body: Type.Object({ perHour: Type.Integer({ minimum: 1, maximum: maxAllowance }) }, strict),
  answer: AllowanceView,
  conditional: true,
  async handle(call) {
    const { accountId } = await requireResource(call, allowanceChange(call));
    // Recorded in the audit log of the integration's account.
    const actor = { ...callerOf(call), accountId };
    const { perHour: allowance } = call.body;
    const write = (transaction: DatabaseTransaction) =>
      changeIntegration(transaction, call.params.clientId, { allowance });
    return saveResource(call, { ...allowanceChange(call), write }, actor);
  },
});

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
  summary: 'Read what people have used of an integration’s initial token requests in the last hour',
  description: 'Whoever used nothing is not listed. Refresh requests do not count.',
  answer: pageOf(
    Type.Object(
      {
        email: Type.String(),
        used: Type.Integer(),
        left: Type.Integer(),
        freeAt: Nullable(Time('When the next one is allowed, where none is left.')),
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
      description: 'Initial token requests of each person in a sliding hour.',
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
  summary: 'Read how many initial token requests an integration is allowed',
  answer: AllowanceView,
  handle: (call) => requireResource(call, allowanceChange(call)),
});

export const putAllowance = defineOperation({
  id: 'putAllowance',
  summary: 'Lift, or lower, how many initial token requests an integration is allowed',
  description: 'It holds at once and on every node, also for people whose requests are used up.',
  body: Type.Object({ perHour: Type.Integer({ minimum: 1, maximum: maxAllowance }) }, strict),
  answer: AllowanceView,
  conditional: true,
  async handle(call) {
    const { accountId } = await requireResource(call, allowanceChange(call));
    // The account that the integration is of sees it in its audit log.
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

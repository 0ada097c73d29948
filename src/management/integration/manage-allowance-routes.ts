import { Type } from 'typebox';
import {
  changeIntegration,
  highestAllowance,
  readAllowanceUses,
  readIntegrationOverviews,
} from '../../session/integration-control-store.ts';
import { pageOf } from '../answer/page.ts';
import { Nullable, strict, Time } from '../answer/schema-parts.ts';
import { requireResource, saveResource, type Transaction } from '../change-resource.ts';
import { type Call, endpoint } from '../endpoint.ts';
import { requireIntegration } from './manage-integrations-routes.ts';

export const listAllowanceUses = endpoint({
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
    const { database, clock } = call.parts;
    const items = await readAllowanceUses(database.kysely, clientId, clock.offset);
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

function allowanceChange(call: Call) {
  const { clientId } = call.params;
  return {
    kind: 'allowance',
    id: clientId,
    async read(transaction: Transaction) {
      const [found] = await readIntegrationOverviews(transaction, clientId);
      return found && { clientId, accountId: found.accountId, perHour: found.allowance };
    },
  };
}

export const getAllowance = endpoint({
  id: 'getAllowance',
  summary: 'Read how many initial token requests an integration is allowed',
  answer: AllowanceView,
  handle: (call) => requireResource(call, allowanceChange(call)),
});

export const putAllowance = endpoint({
  id: 'putAllowance',
  summary: 'Lift, or lower, how many initial token requests an integration is allowed',
  description: 'It holds at once and on every node, also for people whose requests are used up.',
  body: Type.Object({ perHour: Type.Integer({ minimum: 1, maximum: highestAllowance }) }, strict),
  answer: AllowanceView,
  conditional: true,
  async handle(call) {
    const { accountId } = await requireResource(call, allowanceChange(call));
    // The account that the integration is of sees it in its audit log.
    const account = await call.parts.accounts.account(accountId);
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

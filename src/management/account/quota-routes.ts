import { type Static, Type } from 'typebox';
import { readQuotaUsage } from '../../account/quota-usage-store.ts';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { accountOf, defineOperation } from '../operation.ts';

const WindowView = Type.Object(
  {
    limit: Nullable(Type.Integer({ description: 'Null: no limit.' })),
    used: Type.Integer({
      description:
        'Recipients of messages accepted in this window. Under load, includes what processes have reserved for the next second.',
    }),
    endsAt: Time('When the window ends and the count resets.'),
  },
  { ...strict, title: 'QuotaWindow' },
);

const QuotaUseView = Type.Object(
  { hour: WindowView, day: WindowView },
  { ...strict, title: 'QuotaUse' },
);

function viewWindow(
  limit: number | undefined,
  used: number,
  at: Date,
  windowMs: number,
): Omit<Static<typeof WindowView>, 'endsAt'> & { endsAt: Date } {
  return { limit: limit ?? null, used, endsAt: new Date(at.getTime() + windowMs) };
}

export const getQuotaUse = defineOperation({
  id: 'getQuotaUse',
  summary: 'Get quota usage for the current hour and day',
  description: '`used` is 0 for accounts without a quota.',
  answer: QuotaUseView,
  async handle(call) {
    const { id, quota } = accountOf(call);
    const { database } = call.dependencies;
    const use = await readQuotaUsage(database.kysely, id);
    const counted = quota !== undefined;
    return {
      hour: viewWindow(quota?.perHour, counted ? use.hourUsed : 0, use.hourAt, 3_600_000),
      day: viewWindow(quota?.perDay, counted ? use.dayUsed : 0, use.dayAt, 86_400_000),
    };
  },
});

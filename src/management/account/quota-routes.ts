import { type Static, Type } from 'typebox';
import { readQuotaUsage } from '../../account/quota-usage-store.ts';
import { Nullable, strict, Time } from '../answer/common-schemas.ts';
import { accountOf, defineOperation } from '../operation.ts';

const WindowView = Type.Object(
  {
    limit: Nullable(Type.Integer({ description: 'Null: none.' })),
    used: Type.Integer({
      description:
        'Messages accepted since it began. While there is traffic, with what processes have reserved for the next second.',
    }),
    endsAt: Time('When it is over and the count begins anew.'),
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
  summary: 'Read how much of its quota an account has used in this hour and on this day',
  description: 'Only accounts with a quota are counted; for others `used` is 0.',
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

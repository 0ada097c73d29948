import { type Static, Type } from 'typebox';
import type { Account } from '../../account/account.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';

export const AccountView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    addOns: Type.Array(Type.String(), { description: 'What the account may do beyond the rest.' }),
    suspended: Type.Boolean({ description: 'A suspended account can send nothing.' }),
    retentionDays: Type.Integer({ description: 'How long messages are kept: 30, 90 or 400 days.' }),
    quota: Type.Object(
      {
        perHour: Nullable(Type.Integer()),
        perDay: Nullable(Type.Integer({ description: 'Of a day in UTC.' })),
      },
      { ...strict, description: 'Most messages that are accepted; null: no limit.' },
    ),
  },
  { ...strict, title: 'Account' },
);

export function viewAccount(account: Account): Static<typeof AccountView> {
  const { id, name, suspended, retentionDays } = account;
  const { perHour = null, perDay = null } = account.quota ?? {};
  const quota = { perHour, perDay };
  return { id, name, addOns: [...account.addOns].sort(), suspended, retentionDays, quota };
}

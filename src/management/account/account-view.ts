import { type Static, Type } from 'typebox';
import type { Account } from '../../account/account.ts';
import { strict } from '../answer/schema-parts.ts';

export const AccountView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    addOns: Type.Array(Type.String(), { description: 'What the account may do beyond the rest.' }),
    suspended: Type.Boolean({ description: 'A suspended account can send nothing.' }),
    retentionDays: Type.Integer({ description: 'How long messages are kept: 30, 90 or 400 days.' }),
  },
  { ...strict, title: 'Account' },
);

export function viewAccount(account: Account): Static<typeof AccountView> {
  const { id, name, suspended, retentionDays } = account;
  return { id, name, addOns: [...account.addOns].sort(), suspended, retentionDays };
}

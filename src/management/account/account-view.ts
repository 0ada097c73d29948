import { type Static, Type } from 'typebox';
import type { Account } from '../../account/account.ts';
import { Nullable, strict } from '../../foundation/common-schemas.ts';

export const AccountView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    addOns: Type.Array(Type.String(), { description: 'Enabled add-ons.' }),
    suspended: Type.Boolean({ description: 'Suspended accounts can’t send.' }),
    retentionDays: Type.Integer({ description: 'How many days messages are kept: 30, 90 or 400.' }),
    quota: Type.Object(
      {
        perHour: Nullable(Type.Integer()),
        perDay: Nullable(Type.Integer({ description: 'Per UTC day.' })),
      },
      { ...strict, description: 'Max accepted messages; null: no limit.' },
    ),
    archiveAddress: Type.String({
      description:
        'Gets a blind copy of every message, except of templates with secret fields. Empty: none.',
    }),
    attachmentLimit: Nullable(
      Type.Integer({
        description:
          'Max bytes of a message with attachments as sent; 0: no attachments. Null: the installation’s default.',
      }),
    ),
  },
  { ...strict, title: 'Account' },
);

export function viewAccount(account: Account): Static<typeof AccountView> {
  const {
    id,
    name,
    suspended,
    retentionDays,
    archiveAddress = '',
    attachmentLimit = null,
  } = account;
  const { perHour = null, perDay = null } = account.quota ?? {};
  const quota = { perHour, perDay };
  const addOns = [...account.addOns].sort();
  return { id, name, addOns, suspended, retentionDays, quota, archiveAddress, attachmentLimit };
}

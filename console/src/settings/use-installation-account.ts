import { useAccountId, useMe } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Account } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';

/** How many days messages can be kept. */
export const retentionChoices = [30, 90, 400] as const;

export type RetentionChoice = (typeof retentionChoices)[number];

/** Account settings operators can change; omitted members stay unchanged. */
interface AccountChange {
  readonly addOns?: 'transactional'[];
  readonly suspended?: boolean;
  readonly quota?: { perHour?: number; perDay?: number };
  readonly attachmentLimit?: number | null;
  readonly retentionDays?: RetentionChoice;
}

const path = '/installation/accounts/{accountId}';

/** Reads and updates the account of the page for operators, with conflict detection. */
export function useInstallationAccount() {
  const accountId = useAccountId();
  const { data: me } = useMe();
  const params = { accountId };
  const accountQuery = useGet(path, { params, enabled: me?.operator === true });
  const account = accountQuery.data;

  /** @param seen what the person saw of what they change */
  async function update(seen: Partial<Account>, change: AccountChange): Promise<Account> {
    const name = account?.name ?? '';
    const now = await putUnchanged(path, params, { name, ...seen }, { name, ...change });
    showNotice(text('quota' in change ? 'quota.saved' : 'settings.saved'));
    return now;
  }

  const reload = useRefresh(path, '/me', 'quota-use', 'attention');
  return { account, update, reload, error: accountQuery.error };
}

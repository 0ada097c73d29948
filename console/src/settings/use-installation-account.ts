import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useAccountId, useMe } from '../account/use-me.ts';
import type { Account } from '../api/management.generated.ts';
import { answerOf, api, ifMatch, taggedAnswerOf } from '../api/management.ts';
import { tell } from '../parts/notices.tsx';
import { text } from '../texts/text.ts';

/** What operators change of an account; what is left out stays. */
export interface AccountChange {
  readonly addOns?: 'transactional'[];
  readonly suspended?: boolean;
  readonly quota?: { perHour?: number; perDay?: number };
}

const path = '/installation/accounts/{accountId}';

/** The account of the page as operators change it, unless somebody else did since it was read; nothing for others. */
export function useInstallationAccount() {
  const accountId = useAccountId();
  const { data: me } = useMe();
  const client = useQueryClient();
  const params = { path: { accountId } };
  const queryKey = ['installation-account', accountId];
  const known = useQuery({
    queryKey,
    queryFn: () => taggedAnswerOf(api.GET(path, { params })),
    enabled: me?.operator === true,
  });
  const account: Account | undefined = known.data?.value;
  const save = useMutation({
    mutationFn: (change: AccountChange) =>
      answerOf(
        api.PUT(path, {
          params,
          body: { name: account?.name ?? '', ...change },
          ...ifMatch(known.data?.tag),
        }),
      ),
    onSettled: () =>
      Promise.all(
        [queryKey, ['me'], ['quota-use', accountId], ['attention', accountId]].map((key) =>
          client.invalidateQueries({ queryKey: key }),
        ),
      ),
    onSuccess: () => tell(text('settings.saved')),
  });
  return { account, save, error: known.error };
}

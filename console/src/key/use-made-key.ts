import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import type { KeyScope } from './key-scopes.ts';

/**
 * An API key made for the code samples, kept only in this tab's memory until a reload.
 * @param more scopes that they need besides sending with templates
 */
export function useMadeKey(name: string, more: readonly KeyScope[] = []) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const refresh = useRefresh('keys');
  const queryKey = ['made key', accountId, more];
  const { data } = useQuery<string | null>({
    queryKey,
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const make = useAction({
    mutationFn: () =>
      api.post(
        '/accounts/{accountId}/keys',
        { accountId },
        { name, scopes: ['messages:send', 'messages:status', ...more] },
      ),
    onSuccess: async ({ key }) => {
      client.setQueryData(queryKey, key);
      await refresh();
    },
  });
  return { key: data ?? undefined, make };
}

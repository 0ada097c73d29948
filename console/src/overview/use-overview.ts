import { useQuery } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import type { SendReadiness } from '../api/management.generated.ts';
import { api } from '../api/management.ts';

/** The latest messages that fit on the overview. */
export function useLatestMessages() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['messages', accountId, 'latest'],
    queryFn: () => api.get('/accounts/{accountId}/messages', { accountId }, { limit: 8 }),
    refetchInterval: 10_000,
  });
}

export function useQueue() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['queue', accountId],
    queryFn: () => api.get('/accounts/{accountId}/queue', { accountId }),
    refetchInterval: 10_000,
  });
}

export function useSenders() {
  return useQuery(sendersQuery(useAccountId()));
}

export function sendersQuery(accountId: string) {
  return {
    queryKey: ['senders', accountId, 'first'],
    queryFn: () => api.get('/accounts/{accountId}/senders', { accountId }, { limit: 500 }),
  };
}

export function useTemplates() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['templates', accountId, 'first'],
    queryFn: () => api.get('/accounts/{accountId}/templates', { accountId }, { limit: 500 }),
  });
}

/** Which steps to the first message are done. Some are done elsewhere, such as in the inbox. */
export function useSendReadiness() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['readiness', accountId],
    queryFn: () => api.get('/accounts/{accountId}/send-readiness', { accountId }),
    refetchInterval: ({ state }) => (state.data?.message === true ? false : 3_000),
  });
}

/** Whether the account is still on its way to the first message. */
export function hasSteps(readiness: SendReadiness): boolean {
  return !readiness.message;
}

/** The attention items of the API. */
export function useAttention() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['attention', accountId],
    queryFn: () => api.get('/accounts/{accountId}/attention', { accountId }),
    refetchInterval: 30_000,
  });
}

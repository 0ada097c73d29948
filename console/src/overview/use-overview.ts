import { useQuery } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import type { SendReadiness } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';

/** The latest messages that fit on the overview. */
export function useLatestMessages() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['messages', accountId, 'latest'],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/messages', {
          params: { path: { accountId }, query: { limit: 8 } },
        }),
      ),
    refetchInterval: 10_000,
  });
}

export function useQueue() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['queue', accountId],
    queryFn: () =>
      answerOf(api.GET('/accounts/{accountId}/queue', { params: { path: { accountId } } })),
    refetchInterval: 10_000,
  });
}

export function useSenders() {
  return useQuery(sendersQuery(useAccountId()));
}

export function sendersQuery(accountId: string) {
  return {
    queryKey: ['senders', accountId, 'first'],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/senders', {
          params: { path: { accountId }, query: { limit: 500 } },
        }),
      ),
  };
}

export function useTemplates() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['templates', accountId, 'first'],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/templates', {
          params: { path: { accountId }, query: { limit: 500 } },
        }),
      ),
  });
}

/** Which steps to the first message are done. Some are done elsewhere, such as in the inbox. */
export function useSendReadiness() {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['readiness', accountId],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/send-readiness', { params: { path: { accountId } } }),
      ),
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
    queryFn: () =>
      answerOf(api.GET('/accounts/{accountId}/attention', { params: { path: { accountId } } })),
    refetchInterval: 30_000,
  });
}

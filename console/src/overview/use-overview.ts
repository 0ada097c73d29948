import type { SendReadiness } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';

/** The latest messages that fit on the overview. */
export function useLatestMessages() {
  return useGet('/accounts/{accountId}/messages', { query: { limit: 8 }, refetchInterval: 10_000 });
}

export function useQueue() {
  return useGet('/accounts/{accountId}/queue', { refetchInterval: 10_000 });
}

export function useSenders() {
  return useGet('/accounts/{accountId}/senders', { query: { limit: 500 } });
}

export function useTemplates() {
  return useGet('/accounts/{accountId}/templates', { query: { limit: 500 } });
}

/** Which steps to the first message are done. Some are done elsewhere, such as in the inbox. */
export function useSendReadiness() {
  return useGet('/accounts/{accountId}/send-readiness', {
    refetchInterval: ({ state }) => (state.data?.message === true ? false : 3_000),
  });
}

/** Whether the account is still on its way to the first message. */
export function hasSteps(readiness: SendReadiness): boolean {
  return !readiness.message;
}

/** The attention items of the API. */
export function useAttention() {
  return useGet('/accounts/{accountId}/attention', { refetchInterval: 30_000 });
}

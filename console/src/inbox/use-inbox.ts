import { usePages } from '../api/pages.ts';

/** The captured mail that contains a text, newest first, and kept up to date. */
export function useInbox(search: string) {
  return usePages('/accounts/{accountId}/inbox/messages', {
    query: { ...(search !== '' && { search }) },
    refetchInterval: 5_000,
  });
}

import { useAccountId } from '../account/use-me.ts';
import type { InboxSummary } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';

/** The captured mail that contains a text, newest first, and kept up to date. */
export function useInbox(search: string) {
  const accountId = useAccountId();
  return usePages<InboxSummary>({
    queryKey: ['inbox', accountId, search],
    refetchInterval: 5_000,
    read: (cursor) =>
      api.get(
        '/accounts/{accountId}/inbox/messages',
        { accountId },
        { cursor, ...(search !== '' && { search }) },
      ),
  });
}

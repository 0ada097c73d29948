import { useAccountId } from '../account/use-me.ts';
import type { ReplySummary } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';

/** The replies of the account, or to one message, newest first. */
export function useReplies(messageId: string | undefined, enabled: boolean) {
  const accountId = useAccountId();
  return usePages<ReplySummary>({
    queryKey: ['replies', accountId, messageId],
    refetchInterval: 15_000,
    enabled,
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/replies', {
          params: { path: { accountId }, query: { messageId, cursor, limit: 50 } },
        }),
      ),
  });
}

import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { showNotice } from '../components/notices.tsx';
import { text } from '../texts/text.ts';

/** Emails a confirmation link to a sender. */
export function useSenderLink() {
  const accountId = useAccountId();
  const refresh = useRefresh('senders');
  return useAction({
    mutationFn: (address: string) =>
      api.post('/accounts/{accountId}/senders/{address}/link', { accountId, address }),
    onSuccess: async ({ address }) => {
      showNotice(text('senders.linkSent', { address }));
      await refresh();
    },
  });
}

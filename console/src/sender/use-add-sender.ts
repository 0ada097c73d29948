import { useAccountId } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { createNew } from '../api/if-unchanged.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { useSenderLink } from './use-sender-link.ts';

/** Adds senders, and emails them a confirmation link unless their domain verifies them. */
export function useAddSender() {
  const accountId = useAccountId();
  const refresh = useRefresh('senders');
  const { data: settings } = useSettings();
  const link = useSenderLink();
  const sendsLink = settings?.systemMail === true;

  async function add(sender: { readonly address: string; readonly displayNames: string[] }) {
    const { address, displayNames } = sender;
    const params = { accountId, address };
    const added = await createNew('address', '/accounts/{accountId}/senders/{address}', params, {
      displayNames,
    });
    await refresh();
    // If it fails, the sender exists without a link, and its row offers to send one.
    if (!added.verified && sendsLink) link.mutate(address);
    return added;
  }

  return { add, sendsLink };
}

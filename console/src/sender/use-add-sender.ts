import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { createNew } from '../api/if-unchanged.ts';
import { useSenderLink } from './use-sender-link.ts';

/** Adds senders, and emails them a confirmation link unless their domain verifies them. */
export function useAddSender() {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { data: settings } = useSettings();
  const link = useSenderLink();
  const sendsLink = settings?.systemMail === true;

  async function add(sender: { readonly address: string; readonly displayNames: string[] }) {
    const { address, displayNames } = sender;
    const params = { accountId, address };
    const added = await createNew('address', '/accounts/{accountId}/senders/{address}', params, {
      displayNames,
    });
    await client.invalidateQueries({ queryKey: ['senders', accountId] });
    // If it fails, the sender exists without a link, and its row offers to send one.
    if (!added.verified && sendsLink) link.mutate(address);
    return added;
  }

  return { add, sendsLink };
}

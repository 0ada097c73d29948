import { Button } from '@mantine/core';
import { useAccountId, useMe } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { text } from '../texts/text.ts';

/** Lets operators skip the confirmation of a sender, after asking. */
export function MarkVerified({ address }: { address: string }) {
  const { data: me } = useMe();
  const dialog = useDialog();
  if (me?.operator !== true) return null;
  return (
    <>
      <Button size="compact-sm" variant="subtle" onClick={dialog.open}>
        {text('senders.verify')}
      </Button>
      <MarkVerifiedDialog address={address} {...dialog.props} />
    </>
  );
}

interface MarkVerifiedDialogProps {
  address: string;
  opened: boolean;
  close: () => void;
}

/** Asks an operator whether to skip the confirmation. */
export function MarkVerifiedDialog({ address, opened, close }: MarkVerifiedDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('senders');
  const resourcePath = '/accounts/{accountId}/senders/{address}';
  const params = { accountId, address };

  async function verify() {
    await putUnchanged(resourcePath, params, { verified: false }, { verified: true });
    await refresh();
  }

  return (
    <Confirm
      opened={opened}
      close={close}
      title={text('senders.verifyTitle', { address })}
      consequence={text('senders.verifyHint')}
      action={text('senders.verify')}
      confirm={verify}
    />
  );
}

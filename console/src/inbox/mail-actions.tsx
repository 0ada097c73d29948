import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { InboxMessage } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { text } from '../texts/text.ts';

/** Downloads a captured mail, or deletes it. */
export function MailActions({ mail: { id, subject, source } }: { mail: InboxMessage }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('inbox');
  const navigate = useNavigate();
  const [opened, dialog] = useDisclosure();
  const url = useMailFile(source);

  async function remove() {
    await api.delete('/accounts/{accountId}/inbox/messages/{inboxMessageId}', {
      accountId,
      inboxMessageId: id,
    });
    await navigate({ to: '/$account/inbox', params: { account: accountId } });
    await refresh();
  }

  return (
    <>
      <Button component="a" variant="default" href={url} download={`${subject || id}.eml`}>
        {text('inbox.download')}
      </Button>
      {may('inbox:write') && (
        <Button variant="default" className="destructive" onClick={dialog.open}>
          {text('inbox.delete')}
        </Button>
      )}
      <Confirm
        opened={opened}
        close={dialog.close}
        title={text('inbox.deleteTitle')}
        consequence={text('inbox.deleteConsequence')}
        action={text('inbox.delete')}
        destructive
        confirm={remove}
      />
    </>
  );
}

/** The URL of a file with the source of a mail, as long as the page is open. */
function useMailFile(source: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([source], { type: 'message/rfc822' }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [source]);
  return url;
}

import { useDialog } from '../components/use-dialog.ts';
import './inbox.css';
import { Alert, Button, Code, Stack, Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { InboxMessage } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Confirm } from '../components/confirm.tsx';
import { Facts } from '../components/facts.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { MailFrame } from '../components/mail-frame.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { formatToMinute } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { useInbox } from './use-inbox.ts';

/** A captured mail: rendered, plain text, headers and source. */
export function MailPage() {
  const { mail = '' } = useParams({ strict: false });
  const message = useGet('/accounts/{accountId}/inbox/messages/{inboxMessageId}', {
    params: { inboxMessageId: mail },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data } = message;
  return (
    <Stack gap={0}>
      <PageAnchor to="/$account/inbox" size="sm">
        {text('inbox.back')}
      </PageAnchor>
      <PageHeading
        title={data?.subject ?? text('inbox.title')}
        hint={data !== undefined && <Envelope mail={data} />}
      >
        <Neighbors mail={mail} />
        {data !== undefined && <MailActions mail={data} />}
      </PageHeading>
      <PageProblem error={message.error} icon="inbox">
        <PageButton to="/$account/inbox">{text('inbox.back')}</PageButton>
      </PageProblem>
      {message.isPending && <RowsSkeleton />}
      {data !== undefined && <Mail mail={data} />}
    </Stack>
  );
}

/** Steps to the mail that was captured after and before this one. */
function Neighbors({ mail }: { mail: string }) {
  const { items } = useInbox('');
  const index = items.findIndex(({ id }) => id === mail);
  if (index === -1) return null;
  return (
    <Button.Group>
      {(
        [
          ['newer', items[index - 1]],
          ['older', items[index + 1]],
        ] as const
      ).map(([name, neighbor]) =>
        neighbor === undefined ? (
          <Button key={name} variant="default" disabled>
            {text(`inbox.${name}`)}
          </Button>
        ) : (
          <PageButton key={name} to="/$account/inbox/$mail" params={{ mail: neighbor.id }}>
            {text(`inbox.${name}`)}
          </PageButton>
        ),
      )}
    </Button.Group>
  );
}

/** Sender, recipients and time, a line each. */
function Envelope({ mail }: { mail: InboxMessage }) {
  const { envelopeFrom, envelopeTo, headers, receivedAt } = mail;
  const from = headers.find(({ name }) => name.toLowerCase() === 'from')?.value ?? envelopeFrom;
  const facts = [
    [text('inbox.from'), from],
    [text('inbox.to'), envelopeTo.join(', ')],
    [text('inbox.received'), formatToMinute(receivedAt)],
  ] as const;
  return (
    <span className="envelope">
      {facts.map(([name, value]) => (
        <span key={name}>
          {name}: {value}
        </span>
      ))}
    </span>
  );
}

function Mail({ mail }: { mail: InboxMessage }) {
  const { html, text: plain, headers, source, unread } = mail;
  return (
    <Tabs defaultValue={unread ? 'source' : html === null ? 'text' : 'html'} keepMounted={false}>
      {unread && <Alert mb="md">{text('inbox.unread')}</Alert>}
      <Tabs.List mb="md">
        {html !== null && <Tabs.Tab value="html">HTML</Tabs.Tab>}
        <Tabs.Tab value="text">{text('message.plain')}</Tabs.Tab>
        <Tabs.Tab value="headers">{text('inbox.headers')}</Tabs.Tab>
        <Tabs.Tab value="source">{text('inbox.source')}</Tabs.Tab>
      </Tabs.List>
      {html !== null && (
        <Tabs.Panel value="html">
          <MailFrame html={html} title={mail.subject} />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="text">
        <Code block className="plain-mail">
          {plain ?? ''}
        </Code>
      </Tabs.Panel>
      <Tabs.Panel value="headers">
        <Facts facts={headers.map(({ name, value }) => [name, value] as const)} />
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <Code block className="plain-mail">
          {source}
        </Code>
      </Tabs.Panel>
    </Tabs>
  );
}

/** Downloads a captured mail, or deletes it. */
function MailActions({ mail: { id, subject, source } }: { mail: InboxMessage }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('inbox');
  const navigate = useNavigate();
  const dialog = useDialog();
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
        {...dialog.props}
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

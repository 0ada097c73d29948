import './inbox-texts.ts';
import './inbox.css';
import { Anchor, Box, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useMay, useMe } from '../account/use-me.ts';
import { ApiProblem } from '../api/problem.ts';
import { CodeSample } from '../components/code-sample.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Notices } from '../components/notices.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { SearchField, useTypedText } from '../components/search-field.tsx';
import { Brand } from '../layout/brand.tsx';
import { Gate } from '../layout/gate.tsx';
import { SchemeToggle } from '../layout/scheme-toggle.tsx';
import { text } from '../texts/text.ts';
import { MailList } from './mail-list.tsx';
import { MailView } from './mail-view.tsx';
import { type Inbox, useInbox, useMails } from './use-inbox.ts';
import { useMailKeys } from './use-mail-keys.ts';

/** What an account sent while mail is captured. */
export function InboxPage() {
  const inbox = useInbox(useMay()('inbox:write'));
  const { data: me } = useMe();
  const hint = text(me?.inbox === false ? 'inbox.testHint' : 'inbox.hint');
  return <Mails inbox={inbox} mails={useMails(inbox)} hint={hint} />;
}

/** All captured mail, for operators and browsers that opened a one-time link; it needs no account. */
export function ServerInboxPage() {
  const inbox = useInbox(true);
  const mails = useMails(inbox);
  if (mails.error instanceof ApiProblem && mails.error.status === 401) return <LockedInbox />;
  return (
    <>
      <a href="#main" className="skip-link">
        {text('layout.skip')}
      </a>
      <header className="server-head">
        <Brand />
        <Anchor href="/console" size="sm" ml="auto">
          {text('inbox.console')}
        </Anchor>
        <SchemeToggle />
      </header>
      <main id="main" tabIndex={-1} className="main">
        <Mails inbox={inbox} mails={mails} hint={text('inbox.allHint')} />
      </main>
      <Notices />
    </>
  );
}

interface MailsProps {
  inbox: Inbox;
  mails: ReturnType<typeof useMails>;
  hint: string;
}

/** The list, and beside it the open mail; on narrow screens, one of both. */
function Mails({ inbox, mails, hint }: MailsProps) {
  const { isOfAccount, filters, show } = inbox;
  const { mail, search = '' } = filters;
  const field = useRef<HTMLInputElement>(null);
  const typed = useTypedText(search, (wanted) => show({ ...filters, search: wanted }, true));
  useMailKeys({ inbox, items: mails.items, field });

  // The focus follows to a mail in place of the list.
  const area = useRef<HTMLElement>(null);
  useEffect(() => {
    if (mail !== undefined && field.current?.offsetParent === null) area.current?.focus();
  }, [mail]);

  const title = text(isOfAccount ? 'nav.inbox' : 'nav.captured');
  const count = `${mails.items.length}${mails.hasNextPage ? '+' : ''}`;
  useEffect(() => {
    document.title = `${title} (${count}) · Signalpost`;
  }, [title, count]);

  return (
    <div className="inbox">
      <div className="inbox-areas" data-open={mail !== undefined}>
        <PageHeading title={title} hint={hint}>
          {inbox.canDelete && mails.items.length > 0 && (
            <RemoveButton
              title={text('inbox.empty')}
              consequence={text('inbox.emptyConsequence')}
              name="inbox"
              action={text('inbox.empty')}
              remove={async () => {
                await show({});
                await inbox.empty();
              }}
            />
          )}
        </PageHeading>
        <div className="inbox-list">
          <Box component="search" mb="xs">
            <SearchField ref={field} name={text('inbox.find')} maxLength={200} {...typed} />
          </Box>
          <MailList inbox={inbox} mails={mails} />
        </div>
        <section ref={area} tabIndex={-1} className="inbox-mail" aria-label={text('inbox.mail')}>
          {mail === undefined ? (
            <NoMailChosen inbox={inbox} />
          ) : (
            <MailView inbox={inbox} mail={mail} />
          )}
        </section>
      </div>
    </div>
  );
}

/** How to go on, and how programs do. */
function NoMailChosen({ inbox: { isOfAccount } }: { inbox: Inbox }) {
  const command = `curl -G ${location.origin}/inbox/api/messages \\\n  -H "Authorization: Bearer $INBOX_TOKEN" \\\n  -d to=reader@example.com -d wait=30`;
  return (
    <Stack>
      <EmptyState icon="inbox" title={text('inbox.choose')} hint={text('inbox.chooseHint')} />
      {!isOfAccount && <CodeSample title={text('inbox.wait')} code={command} />}
    </Stack>
  );
}

/** For strangers, and after a link that has expired. */
function LockedInbox() {
  return (
    <Gate>
      <Stack>
        <Title order={1}>{text('inbox.locked')}</Title>
        <Text>{text('inbox.lockedWhy')}</Text>
        <Code block tabIndex={0}>
          bin/signalpost inbox-link
        </Code>
        <Group>
          <Text>{text('inbox.lockedOperators')}</Text>
          <Button component="a" variant="default" href="/sign-in?next=%2Fconsole%2F.server%2Finbox">
            {text('inbox.signIn')}
          </Button>
        </Group>
      </Stack>
    </Gate>
  );
}

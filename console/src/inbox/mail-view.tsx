import {
  Alert,
  Anchor,
  Button,
  Code,
  Group,
  SegmentedControl,
  Tabs,
  Text,
  Title,
} from '@mantine/core';
import { useCallback, useState } from 'react';
import type { InboxMessage } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { Confirm } from '../components/confirm.tsx';
import { CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { type MailFindings, MailFrame } from '../components/mail-frame.tsx';
import { Note } from '../components/note.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { formatSize } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { cutAtLinks } from './mail-links.ts';
import type { Inbox } from './use-inbox.ts';

const tabs = ['html', 'text', 'links', 'attachments', 'headers', 'source'] as const;
type Tab = (typeof tabs)[number];

/** A captured mail: rendered, plain text, links, attachments, headers and source. */
export function MailView({ inbox, mail }: { inbox: Inbox; mail: string }) {
  const { paths, list } = inbox;
  const message = useGet(paths.message, {
    params: { inboxMessageId: mail },
    staleTime: Number.POSITIVE_INFINITY,
  });
  // The same one for the next mail.
  const [tab, setTab] = useState<Tab>();
  const { data } = message;
  const back = { to: paths.page, search: list };
  return (
    <>
      <PageAnchor {...back} size="sm" className="mail-back">
        {text('inbox.back')}
      </PageAnchor>
      <PageProblem error={message.error} icon="inbox" retry={() => message.refetch()}>
        <PageButton {...back}>{text('inbox.back')}</PageButton>
      </PageProblem>
      {message.isPending && <RowsSkeleton />}
      {data !== undefined && (
        <Mail key={mail} inbox={inbox} mail={data} tab={tab} choose={setTab} />
      )}
    </>
  );
}

interface MailProps {
  inbox: Inbox;
  mail: InboxMessage;
}

interface ChosenTab {
  tab: Tab | undefined;
  choose: (tab: Tab) => void;
}

function Mail({ inbox, mail, tab, choose }: MailProps & ChosenTab) {
  const { subject, html, text: plain, attachments, headers, unread } = mail;
  const [found, setFound] = useState<MailFindings>();
  const note = useCallback(
    (more: Partial<MailFindings>) =>
      setFound((before) => ({ links: [], blocked: 0, ...before, ...more })),
    [],
  );
  const pieces = cutAtLinks(plain?.slice(0, maxCharacters) ?? '');
  const links =
    html === null
      ? pieces.flatMap((piece) =>
          piece.href === undefined ? [] : [{ label: piece.href, href: piece.href }],
        )
      : (found?.links ?? []);
  const counts: Partial<Record<Tab, number>> = {
    links: links.length,
    attachments: attachments.length,
    headers: headers.length,
  };
  const best = unread ? 'source' : html === null ? 'text' : 'html';
  return (
    <article aria-label={subject || text('inbox.noSubject')}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
        <Title order={2} className="breakable" dir="auto">
          {subject || text('inbox.noSubject')}
        </Title>
        <DeleteMail inbox={inbox} mail={mail} />
      </Group>
      <Facts facts={factsOf(mail)} />
      {unread && <Alert mt="sm">{text('inbox.unread')}</Alert>}
      <Tabs
        value={tab ?? best}
        onChange={(value) => choose(value as Tab)}
        keepMounted={false}
        mt="sm"
      >
        <Tabs.List mb="sm">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name} px="xs">
              {text(`inbox.tab.${name}`)}
              {(counts[name] ?? 0) > 0 && (
                <Note span lh={1}>
                  {' '}
                  {counts[name]}
                </Note>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {/* The frame finds the links. */}
        <Tabs.Panel value="html" keepMounted>
          {html === null ? (
            <Missing what="noHtml" />
          ) : (
            <HtmlPart html={html} subject={subject} blocked={found?.blocked ?? 0} note={note} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="text">
          {plain === null ? <Missing what="noText" /> : <PlainText pieces={pieces} whole={plain} />}
        </Tabs.Panel>
        <Tabs.Panel value="links">
          {links.length === 0 && <Missing what="noLinks" />}
          <ol className="mail-links">
            {links.map(({ label, href }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: links can repeat, and have no state
              <li key={index}>
                {label !== href && <Text size="sm">{label}</Text>}
                <CopyField value={href} label={text('inbox.link', { label })}>
                  <OutsideLink href={href}>{href}</OutsideLink>
                </CopyField>
              </li>
            ))}
          </ol>
        </Tabs.Panel>
        <Tabs.Panel value="attachments">
          {attachments.length === 0 && <Missing what="noAttachments" />}
          <Facts
            facts={attachments.map(({ filename, contentType, size }, index) => [
              contentType,
              <>
                <Anchor inherit href={inbox.fileOf(mail.id, `attachments/${index + 1}`)} download>
                  {filename ?? `attachment-${index + 1}`}
                </Anchor>{' '}
                ({formatSize(size)})
              </>,
            ])}
          />
        </Tabs.Panel>
        <Tabs.Panel value="headers">
          <HeaderFields mail={mail} />
        </Tabs.Panel>
        <Tabs.Panel value="source">
          <Source inbox={inbox} mail={mail} />
        </Tabs.Panel>
      </Tabs>
    </article>
  );
}

/** Who sent it to whom, and who got it without being named. */
function factsOf(mail: InboxMessage) {
  const values = (field: string) =>
    mail.headers
      .filter(({ name }) => name.toLowerCase() === field)
      .map(({ value }) => value)
      .join(', ');
  const from = values('from') || mail.envelopeFrom;
  const replyTo = values('reply-to');
  const shown = `${values('to')} ${values('cc')}`.toLowerCase();
  const hidden = mail.envelopeTo.filter((address) => !shown.includes(address.toLowerCase()));
  return [
    [text('inbox.from'), from || null],
    [text('inbox.replyTo'), replyTo === from ? null : replyTo || null],
    [text('inbox.to'), values('to') || null],
    [text('inbox.cc'), values('cc') || null],
    [text('inbox.hidden'), hidden.join(', ') || null],
    [text('inbox.received'), <TimeText key="received" value={mail.receivedAt} as="full" />],
  ] as const;
}

function DeleteMail({ inbox, mail }: MailProps) {
  const dialog = useDialog();
  if (!inbox.canDelete) return null;
  async function remove() {
    await inbox.show(inbox.list);
    await inbox.remove(mail.id);
  }
  return (
    <>
      <Button variant="default" className="destructive" flex="none" onClick={dialog.open}>
        {text('inbox.delete')}
      </Button>
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

/** As wide as most phones, in pixels. */
const phoneWidth = 390;

interface HtmlPartProps extends Pick<MailFindings, 'blocked'> {
  html: string;
  subject: string;
  note: (findings: Partial<MailFindings>) => void;
}

function HtmlPart({ html, subject, blocked, note }: HtmlPartProps) {
  const [width, setWidth] = useState('desktop');
  return (
    <>
      <Group mb="xs" gap="sm">
        <SegmentedControl
          size="xs"
          visibleFrom="sm"
          aria-label={text('inbox.width')}
          value={width}
          onChange={setWidth}
          data={[
            { value: 'desktop', label: text('inbox.desktop') },
            { value: 'phone', label: text('inbox.phone') },
          ]}
        />
        {blocked > 0 && <Note span>{text('inbox.blocked', { count: blocked })}</Note>}
      </Group>
      <div className="mail-place">
        <MailFrame
          html={html}
          title={subject || text('inbox.noSubject')}
          onFound={note}
          {...(width === 'phone' && { width: phoneWidth })}
        />
      </div>
    </>
  );
}

/** Max characters of a text or source that is shown. */
const maxCharacters = 512 * 1024;

function PlainText({ pieces, whole }: { pieces: ReturnType<typeof cutAtLinks>; whole: string }) {
  return (
    <>
      <Code block className="plain-mail" tabIndex={0}>
        {pieces.map((piece, index) =>
          piece.href === undefined ? (
            piece.text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: links can repeat, and have no state
            <OutsideLink key={index} href={piece.href}>
              {piece.text}
            </OutsideLink>
          ),
        )}
      </Code>
      <CutHint whole={whole} />
    </>
  );
}

function OutsideLink({ href, children }: { href: string; children: string }) {
  return (
    <Anchor inherit underline="always" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </Anchor>
  );
}

function CutHint({ whole }: { whole: string }) {
  return whole.length > maxCharacters ? <Note mt="xs">{text('inbox.cut')}</Note> : null;
}

function HeaderFields({ mail: { headers, envelopeFrom, envelopeTo } }: { mail: InboxMessage }) {
  return (
    <>
      <Title order={3}>{text('inbox.envelope')}</Title>
      <Facts
        facts={[
          ['MAIL FROM', envelopeFrom || '<>'],
          ...envelopeTo.map((to) => ['RCPT TO', to] as const),
        ]}
      />
      <Title order={3} mt="sm">
        {text('inbox.tab.headers')}
      </Title>
      <Facts facts={headers.map(({ name, value }) => [name, value] as const)} />
    </>
  );
}

function Source({ inbox, mail: { id, source } }: MailProps) {
  return (
    <>
      <Group mb="xs" justify="space-between">
        <Note span>{text('inbox.size', { size: formatSize(new Blob([source]).size) })}</Note>
        <Button
          component="a"
          size="compact-sm"
          variant="default"
          href={inbox.fileOf(id, 'source')}
          download
        >
          {text('inbox.download')}
        </Button>
      </Group>
      <Code block className="plain-mail" tabIndex={0}>
        {source.slice(0, maxCharacters)}
      </Code>
      <CutHint whole={source} />
    </>
  );
}

function Missing({ what }: { what: 'noHtml' | 'noText' | 'noLinks' | 'noAttachments' }) {
  return (
    <Text size="sm" c="dimmed" py="md">
      {text(`inbox.${what}`)}
    </Text>
  );
}

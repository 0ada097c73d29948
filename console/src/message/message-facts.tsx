import { Anchor, Code, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { CopyAddress, CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { PageAnchor } from '../components/links.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { formatSize } from '../format/format-number.ts';
import { nameLocale } from '../format/name-locale.ts';
import { text } from '../texts/text.ts';
import { isFinalMessageState, waitOf } from './message-states.ts';

/** A text as it is, a list or object as JSON. */
function describeValue(value: unknown): ReactNode {
  if (value === null) return text('message.erasedValue');
  if (typeof value !== 'object') return String(value);
  return <Code block>{JSON.stringify(value, null, 2)}</Code>;
}

function formatMailbox(name: string | undefined, address: string): string {
  return name === undefined ? address : `${name} <${address}>`;
}

/** The sender, as the From header has it. */
function describeSender(from: unknown): string | null {
  if (typeof from !== 'object' || from === null) return null;
  const { name, address } = from as { readonly name?: string; readonly address: string };
  return formatMailbox(name, address);
}

/** The template with the version that the message uses, or will use: some take the latest one at their send time. */
function TemplateLink({ message }: { message: Message }) {
  const may = useMay();
  const { templateId, templateVersion, content, state } = message;
  const changes = content?.templateVersion === 'due' && !isFinalMessageState(state);
  const template = useGet('/accounts/{accountId}/templates/{templateId}', {
    params: { templateId },
    enabled: changes && may('templates:read'),
  });
  const version = changes ? (template.data?.publishedVersion ?? templateVersion) : templateVersion;
  const key = changes ? 'message.templateLatest' : 'message.template';
  return (
    <Group gap="0 8px">
      <PageAnchor to="/$account/templates/$template" params={{ template: templateId }}>
        {templateId}
      </PageAnchor>
      <Text span inherit c="dimmed">
        {text(templateVersion < 0 ? 'message.draft' : key, { version })}
      </Text>
    </Group>
  );
}

interface StoredAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  /** Set: shown inside the HTML. */
  readonly contentId?: string;
}

/** What messages have instead of a template if they were submitted complete, over SMTP. */
const rawTemplateId = '.raw';

interface RecipientNameProps {
  message: Message;
  recipient: Message['recipients'][number];
}

/** A recipient, which leads to all about that person, with its state if those of the message differ. */
function RecipientName({ message, recipient: { address, role, state } }: RecipientNameProps) {
  const { content, recipients } = message;
  const hasSeveralStates = new Set(recipients.map((recipient) => recipient.state)).size > 1;
  return (
    <>
      {address === null ? (
        text('messages.erased')
      ) : (
        <PageAnchor to="/$account/people" search={{ address }}>
          {role === 'to' && typeof content?.toName === 'string'
            ? formatMailbox(content.toName, address)
            : address}
        </PageAnchor>
      )}{' '}
      {hasSeveralStates && (
        <StateBadge
          state={state}
          test={message.test}
          waits={isFinalMessageState(state) ? undefined : waitOf(message)}
        />
      )}
    </>
  );
}

interface MessagePartiesProps {
  message: Message;
  /** Its outcome, such as where it was captured; nothing after a failure. */
  children: ReactNode;
}

/** Who sent the message, its first recipient, and where replies go. */
export function MessageParties({ message, children }: MessagePartiesProps) {
  const { from, replyTo } = message.content ?? {};
  const sender = describeSender(from);
  const [recipient] = message.recipients;
  const facts: (readonly [string, ReactNode])[] = [
    [text('messages.from'), sender],
    [
      text(`message.${recipient?.role ?? 'to'}`),
      recipient && <RecipientName key="to" message={message} recipient={recipient} />,
    ],
    [
      text('message.replyTo'),
      typeof replyTo === 'string' && (
        <CopyAddress key="reply-to" address={replyTo} label={text('message.replyTo')} />
      ),
    ],
  ];
  return (
    <div className="message-parties">
      <dl>
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {children}
    </div>
  );
}

/** The request and the state of the other recipients. */
export function MessageFacts({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { content } = message;
  const attachments = (content?.attachments ?? []) as readonly StoredAttachment[];
  const erased = (content?.erased ?? []) as readonly string[];
  const facts: [string, ReactNode][] = [
    [text('message.id'), <CopyField key="id" value={message.messageId} label="id" short />],
    [
      text('messages.template'),
      message.templateId === rawTemplateId ? (
        text('message.raw')
      ) : (
        <TemplateLink key="template" message={message} />
      ),
    ],
    ...message.recipients
      .slice(1)
      .map((recipient): [string, ReactNode] => [
        text(`message.${recipient.role}`),
        <RecipientName key={recipient.address} message={message} recipient={recipient} />,
      ]),
    [text('messages.tag'), message.tag],
    [text('messages.externalId'), message.externalId],
    [
      text('message.locale'),
      typeof content?.locale === 'string' ? nameLocale(content.locale) : null,
    ],
    [text('message.transactional'), message.transactional ? text('yes') : null],
    [text('message.tracked'), describeTracking(message)],
    ...attachments.map(({ filename, contentType, size, contentId }, index): [string, ReactNode] => [
      text('message.attachment'),
      <span key={filename}>
        <Anchor
          href={`/manage/v1/accounts/${accountId}/messages/${message.messageId}/attachments/${index + 1}`}
          download={filename}
        >
          {filename}
        </Anchor>{' '}
        ({contentType}, {formatSize(size)}
        {contentId !== undefined && `, ${text('message.inline', { contentId })}`})
      </span>,
    ]),
    [
      text('message.attachment'),
      erased.includes('attachments') ? text('message.erasedAttachments') : null,
    ],
  ];
  return (
    <section aria-labelledby="facts">
      <Title order={2} id="facts" mb="xs">
        {text('message.facts')}
      </Title>
      <Facts facts={facts} />
    </section>
  );
}

/** Which of opens and clicks are tracked. */
function describeTracking({ trackOpens, trackClicks }: Message): string {
  if (trackOpens && trackClicks) return text('message.tracked.both');
  if (trackOpens) return text('message.tracked.opens');
  return text(trackClicks ? 'message.tracked.clicks' : 'no');
}

/** The fields, attributes and headers of a message, as far as it has them. Secret values are masked. */
export function MessageValues({ message: { content, attributes } }: { message: Message }) {
  return (
    [
      ['message.fields', content?.values],
      ['message.attributes', attributes],
      ['message.headers', content?.headers],
    ] as const
  ).map(([title, values]) => {
    const entries = Object.entries(values ?? {});
    if (entries.length === 0) return null;
    return (
      <section key={title} aria-labelledby={title}>
        <Title order={2} id={title} mb="xs">
          {text(title)}
        </Title>
        <Facts facts={entries.map(([name, value]) => [name, describeValue(value)] as const)} />
      </section>
    );
  });
}

import { Anchor, Code, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { CopyField } from '../components/copy-field.tsx';
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

/** The sender, as the From header has it. */
function describeSender(from: unknown): string | null {
  if (typeof from !== 'object' || from === null) return null;
  const { name, address } = from as { readonly name?: string; readonly address: string };
  return name === undefined ? address : `${name} <${address}>`;
}

/** A message that takes the version published when it is due may end with another one. */
function versionTextOf({ templateVersion, content, state }: Message) {
  if (templateVersion < 0) return 'message.draft';
  const changes = content?.templateVersion === 'due' && !isFinalMessageState(state);
  return changes ? 'message.templateWhenAccepted' : 'message.template';
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

/** The request and the state of each recipient. Secret values are masked. */
export function MessageFacts({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { content } = message;
  const entriesOf = (map: unknown) => Object.entries((map ?? {}) as Record<string, unknown>);
  const values = entriesOf(content?.values);
  const attachments = (content?.attachments ?? []) as readonly StoredAttachment[];
  const erased = (content?.erased ?? []) as readonly string[];
  const hasSeveralStates = new Set(message.recipients.map(({ state }) => state)).size > 1;
  const facts: [string, ReactNode][] = [
    [text('message.id'), <CopyField key="id" value={message.messageId} label="id" short />],
    [
      text('messages.template'),
      message.templateId === rawTemplateId ? (
        text('message.raw')
      ) : (
        <PageAnchor
          key="template"
          to="/$account/templates/$template"
          params={{ account: accountId, template: message.templateId }}
        >
          {text(versionTextOf(message), {
            id: message.templateId,
            version: message.templateVersion,
          })}
        </PageAnchor>
      ),
    ],
    [text('messages.from'), describeSender(content?.from)],
    [text('message.replyTo'), typeof content?.replyTo === 'string' ? content.replyTo : null],
    ...message.recipients.map(({ address, role, state }): [string, ReactNode] => [
      text(`message.${role}`),
      <span key={address}>
        {role === 'to' && typeof content?.toName === 'string' && `${content.toName} `}
        {address ?? text('messages.erased')}{' '}
        {hasSeveralStates && (
          <StateBadge
            state={state}
            waits={isFinalMessageState(state) ? undefined : waitOf(message)}
          />
        )}
      </span>,
    ]),
    [text('messages.tag'), message.tag],
    [text('messages.externalId'), message.externalId],
    ...(typeof content?.locale === 'string'
      ? [[text('message.locale'), nameLocale(content.locale)] as [string, ReactNode]]
      : []),
    [text('message.transactional'), text(message.transactional ? 'yes' : 'no')],
    [text('message.tracked'), text(message.trackOpens || message.trackClicks ? 'yes' : 'no')],
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
    ...(erased.includes('attachments')
      ? [[text('message.attachment'), text('message.erasedAttachments')] as [string, ReactNode]]
      : []),
  ];
  const named = (
    [
      ['message.fields', values],
      ['message.attributes', entriesOf(message.attributes)],
      ['message.headers', entriesOf(content?.headers)],
    ] as const
  ).filter(([, entries]) => entries.length > 0);
  return (
    <section aria-labelledby="facts" className="message-facts">
      <div>
        <Title order={2} id="facts" mt="md" mb="xs">
          {text('message.facts')}
        </Title>
        <Facts facts={facts} />
      </div>
      {named.length > 0 && (
        <div>
          {named.map(([title, entries]) => (
            <section key={title} aria-labelledby={title}>
              <Title order={3} size="h2" id={title} mt="md" mb="xs">
                {text(title)}
              </Title>
              <Facts
                facts={entries.map(([name, value]) => [name, describeValue(value)] as const)}
              />
            </section>
          ))}
        </div>
      )}
    </section>
  );
}

import { Anchor, Code, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { formatSize } from '../format/format-number.ts';
import { nameLocale } from '../format/name-locale.ts';
import { text } from '../texts/text.ts';
import { isFinalMessageState, isPaused } from './message-states.ts';

/** A text as it is, a list or object as JSON. */
function describeValue(value: unknown): ReactNode {
  if (value === null) return text('message.erasedValue');
  if (typeof value !== 'object') return String(value);
  return <Code block>{JSON.stringify(value, null, 2)}</Code>;
}

interface StoredAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  /** Set: shown inside the HTML. */
  readonly contentId?: string;
}

/** The request and the state of each recipient. Secret values are masked. */
export function MessageFacts({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { content } = message;
  const entriesOf = (map: unknown) => Object.entries((map ?? {}) as Record<string, unknown>);
  const values = entriesOf(content?.values);
  const attachments = (content?.attachments ?? []) as readonly StoredAttachment[];
  const erased = (content?.erased ?? []) as readonly string[];
  const facts: [string, ReactNode][] = [
    [text('message.id'), <CopyField key="id" value={message.messageId} label="id" />],
    [text('messages.tag'), message.tag],
    [text('messages.externalId'), message.externalId],
    ...entriesOf(message.attributes).map(([name, value]): [string, ReactNode] => [
      text('message.attribute', { name }),
      String(value),
    ]),
    ...(typeof content?.locale === 'string'
      ? [[text('message.locale'), nameLocale(content.locale)] as [string, ReactNode]]
      : []),
    [text('message.transactional'), text(message.transactional ? 'yes' : 'no')],
    [text('message.tracked'), text(message.trackOpens || message.trackClicks ? 'yes' : 'no')],
    ...message.recipients.map(({ address, role, state }): [string, ReactNode] => [
      text(`message.${role}`),
      <span key={address}>
        {role === 'to' && typeof content?.toName === 'string' && `${content.toName} `}
        {address ?? text('messages.erased')}{' '}
        <StateBadge state={state} paused={isPaused(message) && !isFinalMessageState(state)} />
      </span>,
    ]),
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
    ...entriesOf(content?.headers).map(([name, value]): [string, ReactNode] => [
      text('message.header', { name }),
      String(value),
    ]),
    ...values.map(([name, value]): [string, ReactNode] => [name, describeValue(value)]),
  ];
  return (
    <section aria-labelledby="facts">
      <Title order={2} id="facts" mt="lg" mb="xs">
        {text('message.facts')}
      </Title>
      <Facts facts={facts} />
    </section>
  );
}

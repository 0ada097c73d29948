import { Anchor, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { CopyField } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { StateBadge } from '../components/state-badge.tsx';
import { formatSize } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

interface StoredAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
}

/** The request and the state of each recipient. Secret values are masked. */
export function MessageFacts({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { content } = message;
  const values = Object.entries((content?.values ?? {}) as Record<string, unknown>);
  const attachments = (content?.attachments ?? []) as readonly StoredAttachment[];
  const facts: [string, ReactNode][] = [
    [text('message.id'), <CopyField key="id" value={message.messageId} label="id" />],
    [text('messages.tag'), message.tag],
    [text('messages.externalId'), message.externalId],
    [text('message.transactional'), text(message.transactional ? 'yes' : 'no')],
    [text('message.tracked'), text(message.trackOpens || message.trackClicks ? 'yes' : 'no')],
    ...message.recipients.map(({ address, role, state }): [string, ReactNode] => [
      text(role === 'to' ? 'message.to' : 'message.cc'),
      <span key={address}>
        {address ?? text('messages.erased')} <StateBadge state={state} />
      </span>,
    ]),
    ...attachments.map(({ filename, contentType, size }, index): [string, ReactNode] => [
      text('message.attachment'),
      <span key={filename}>
        <Anchor
          href={`/manage/v1/accounts/${accountId}/messages/${message.messageId}/attachments/${index + 1}`}
          download={filename}
        >
          {filename}
        </Anchor>{' '}
        ({contentType}, {formatSize(size)})
      </span>,
    ]),
    ...values.map(([name, value]): [string, ReactNode] => [
      name,
      value === null ? text('message.erasedValue') : String(value),
    ]),
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

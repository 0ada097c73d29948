import { Code, Text } from '@mantine/core';
import type { WebhookTest } from '../api/management.generated.ts';
import { CopyHeading } from '../components/copy-field.tsx';
import { Facts } from '../components/facts.tsx';
import { text } from '../texts/text.ts';

type ExchangeFacts = Pick<WebhookTest, 'status' | 'answer' | 'requestHeaders' | 'responseHeaders'>;

/** The response to a request of a webhook, and the headers of both. */
export function TryExchange({ exchange }: { exchange: ExchangeFacts }) {
  const { status, answer, requestHeaders, responseHeaders } = exchange;
  return (
    <>
      {status === 0 ? (
        <Text size="sm" className="breakable">
          {text('webhooks.because', { reason: answer })}
        </Text>
      ) : (
        <TextBlock title={text('webhooks.response')}>
          {answer === '' ? text('webhooks.emptyResponse') : formatJson(answer)}
        </TextBlock>
      )}
      {status !== 0 && <Headers title="webhooks.responseHeaders" headers={responseHeaders} />}
      <Headers title="webhooks.requestHeaders" headers={requestHeaders} />
    </>
  );
}

interface HeadersProps {
  title: 'webhooks.responseHeaders' | 'webhooks.requestHeaders';
  headers: Readonly<Record<string, string>>;
}

function Headers({ title, headers }: HeadersProps) {
  const facts = Object.entries(headers);
  if (facts.length === 0) return null;
  return (
    <details className="headers">
      <summary>{text(title, { count: facts.length })}</summary>
      <Facts facts={facts} />
    </details>
  );
}

/** A titled block of code that can be copied. */
export function TextBlock({ title, children }: { title: string; children: string }) {
  return (
    <div>
      <CopyHeading title={title} value={children} />
      <Code block className="payload" tabIndex={0}>
        {children}
      </Code>
    </div>
  );
}

/** Indents JSON; other text is left as is. */
export function formatJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

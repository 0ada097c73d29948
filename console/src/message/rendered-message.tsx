import { Code, Skeleton, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { MailFrame } from '../components/mail-frame.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { showImages, useImageUrls } from '../template/template-images.ts';
import { text } from '../texts/text.ts';
import { isContentErased } from './message-states.ts';

/** The message, rendered again from its version and values; viewing it doesn't count as an open. */
function useRenderedMessage(messageId: string, enabled: boolean) {
  const accountId = useAccountId();
  return useQuery({
    queryKey: ['rendered', accountId, messageId],
    queryFn: () =>
      api.get('/accounts/{accountId}/messages/{messageId}/rendered', { accountId, messageId }),
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Of the content, in pixels: that of a mail of a line. */
const minHeight = 64;

/** The content of a message, as HTML and as plain text. */
export function RenderedMessagePanel({ message }: { message: Message }) {
  const accountId = useAccountId();
  const { messageId } = message;
  const erased = isContentErased(message);
  const rendered = useRenderedMessage(messageId, !erased);
  const { data } = rendered;
  const images = useImageUrls({ accountId, messageId }, data?.images);
  return (
    <section aria-labelledby="rendered">
      <Title order={2} id="rendered" mb="sm">
        {text('message.rendered')}
      </Title>
      {erased && (
        <EmptyState
          icon="privacy"
          title={text('message.contentErased')}
          hint={whyErased(message)}
        />
      )}
      <ProblemAlert error={rendered.error} />
      {rendered.isLoading && <Skeleton height={minHeight} mt={49} />}
      {data !== undefined && (
        <Tabs defaultValue={data.html === null ? 'text' : 'html'} keepMounted={false}>
          <Tabs.List mb="sm">
            {data.html !== null && <Tabs.Tab value="html">HTML</Tabs.Tab>}
            <Tabs.Tab value="text">{text('message.plain')}</Tabs.Tab>
          </Tabs.List>
          {data.html !== null && (
            <Tabs.Panel value="html">
              <MailFrame
                html={showImages(data.html, images)}
                title={text('message.rendered')}
                minHeight={minHeight}
              />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="text">
            <Code block>{data.text ?? ''}</Code>
          </Tabs.Panel>
        </Tabs>
      )}
    </section>
  );
}

/** Names the secret fields whose values were deleted with the last attempt. */
function whyErased({ content }: Message): string {
  const names = Object.entries(content?.values ?? {})
    .filter(([, value]) => value === null)
    .map(([name]) => `“${name}”`);
  if (names.length === 0) return text('message.erased');
  return text('message.erasedSecrets', { names: names.join(', '), count: names.length });
}

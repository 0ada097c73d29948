import { NativeSelect } from '@mantine/core';
import { useGet } from '../../api/use-get.ts';
import { formatTime } from '../../format/format-time.ts';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';

/** The newest messages to choose from. */
const limit = 25;

interface PastMessageSelectProps {
  /** Undefined: the samples. */
  messageId: string | undefined;
  choose: (messageId: string | undefined) => void;
}

/** Chooses the values of a preview: the samples, or those of a message sent with the template. */
export function PastMessageSelect({ messageId, choose }: PastMessageSelectProps) {
  const { templateId } = useTemplatePath();
  const { data } = useGet('/accounts/{accountId}/messages', { query: { templateId, limit } });
  const messages = data?.items.filter(({ to }) => to !== null) ?? [];
  return (
    <NativeSelect
      label={text('editor.values')}
      value={messageId ?? ''}
      onChange={(event) => choose(event.currentTarget.value || undefined)}
      data={[
        { value: '', label: text('editor.samples') },
        ...messages.map(({ id, to, acceptedAt }) => ({
          value: id,
          label: text('editor.valuesOf', { to: to ?? '', at: formatTime(acceptedAt) }),
        })),
      ]}
    />
  );
}

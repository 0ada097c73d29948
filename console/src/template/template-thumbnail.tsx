import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { MailFrame } from '../components/mail-frame.tsx';
import { showImages } from './template-images.ts';

/** A template with its samples; undefined until it's rendered, or if it can't be. */
export function useSample(templateId: string) {
  const accountId = useAccountId();
  const preview = useQuery({
    queryKey: ['thumbnail', accountId, templateId],
    queryFn: () =>
      api.post(
        '/accounts/{accountId}/templates/{templateId}/preview',
        { accountId, templateId },
        {},
      ),
    staleTime: 60_000,
    retry: false,
  });
  return preview.data?.rendered;
}

/** A thumbnail of a template with its samples; decorative, because the name is next to it. */
export function TemplateThumbnail({ templateId }: { templateId: string }) {
  const html = useSample(templateId)?.html;
  return (
    <Box className="thumbnail" aria-hidden="true" inert>
      {typeof html === 'string' && (
        <MailFrame html={showImages(html)} title="" fit={560} minHeight={600} />
      )}
    </Box>
  );
}

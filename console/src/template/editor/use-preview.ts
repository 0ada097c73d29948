import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/management.ts';
import { imageNames } from '../edited-images.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedContent } from './use-draft.ts';

/** Debounce of the preview, in milliseconds. */
const debounceMs = 300;

interface PreviewChoices {
  /** A message whose values are used; undefined: the samples. */
  readonly messageId: string | undefined;
  readonly locale: string | undefined;
}

/** The debounced preview of the content, with fields, problems and hints. */
export function usePreview(content: EditedContent, { messageId, locale }: PreviewChoices) {
  const path = useTemplatePath();
  const names = imageNames(content.images);
  const { unusedMarkup: _, ...used } = content;
  const [settled] = useDebouncedValue({ ...used, images: names }, debounceMs);
  return useQuery({
    queryKey: ['preview', path, settled, messageId, locale],
    queryFn: () =>
      api.post('/accounts/{accountId}/templates/{templateId}/preview', path, {
        content: settled,
        ...(messageId === undefined ? {} : { messageId }),
        ...(locale === undefined ? {} : { locale }),
      }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

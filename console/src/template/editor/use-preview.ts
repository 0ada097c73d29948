import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { TemplateContent } from '../../api/management.generated.ts';
import { answerOf, api } from '../../api/management.ts';
import { imageNames } from '../template-images.ts';
import { useTemplatePath } from '../use-template.ts';

/** Debounce of the preview, in milliseconds. */
const debounceMs = 300;

/** The debounced preview of the content, with fields, problems and hints. */
export function usePreview(
  content: TemplateContent,
  values: Readonly<Record<string, string>>,
  locale: string | undefined,
) {
  const path = useTemplatePath();
  const names = imageNames(content.images);
  const [settled] = useDebouncedValue(
    { content: { ...content, images: names }, values },
    debounceMs,
  );
  return useQuery({
    queryKey: ['preview', path, settled, locale],
    queryFn: () =>
      answerOf(
        api.POST('/accounts/{accountId}/templates/{templateId}/preview', {
          params: { path },
          body: { ...settled, ...(locale === undefined ? {} : { locale }) },
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';

/** The path parameters of the current template. */
export function useTemplatePath(): { readonly accountId: string; readonly templateId: string } {
  const accountId = useAccountId();
  const { template: templateId = '' } = useParams({ strict: false });
  return { accountId, templateId };
}

/** The current template. */
export function useTemplate() {
  return useTemplateAt(useTemplatePath());
}

export function useTemplateAt(path: ReturnType<typeof useTemplatePath>, enabled = true) {
  return useQuery({
    queryKey: ['templates', path.accountId, path.templateId],
    queryFn: () =>
      answerOf(api.GET('/accounts/{accountId}/templates/{templateId}', { params: { path } })),
    enabled,
  });
}

/** A version of the current template with its content; disabled without a number. */
export function useVersion(version: number | null | undefined) {
  const path = useTemplatePath();
  return useQuery({
    queryKey: ['version', path.accountId, path.templateId, version],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/templates/{templateId}/versions/{version}', {
          params: { path: { ...path, version: version ?? 0 } },
        }),
      ),
    enabled: typeof version === 'number',
    // Published versions are immutable.
    staleTime: 300_000,
  });
}

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';

export interface TemplatePath {
  readonly accountId: string;
  readonly templateId: string;
}

/** The path parameters of the current template. */
export function useTemplatePath(): TemplatePath {
  const accountId = useAccountId();
  const { template: templateId = '' } = useParams({ strict: false });
  return { accountId, templateId };
}

/** The current template. */
export function useTemplate() {
  return useTemplateAt(useTemplatePath());
}

export function useTemplateAt(path: TemplatePath, enabled = true) {
  return useQuery({ ...templateQuery(path), enabled });
}

export function templateQuery(path: TemplatePath) {
  return {
    queryKey: ['templates', path.accountId, path.templateId],
    queryFn: () => api.get('/accounts/{accountId}/templates/{templateId}', path),
  };
}

/** A version of the current template with its content; disabled without a number. */
export function useVersion(version: number | null | undefined) {
  const path = useTemplatePath();
  return useQuery({ ...versionQuery(path, version ?? 0), enabled: typeof version === 'number' });
}

export function versionQuery(path: TemplatePath, version: number) {
  return {
    queryKey: ['version', path.accountId, path.templateId, version],
    queryFn: () =>
      api.get('/accounts/{accountId}/templates/{templateId}/versions/{version}', {
        ...path,
        version,
      }),
    // Published versions are immutable.
    staleTime: 300_000,
  };
}

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import { getQuery, useGet } from '../api/use-get.ts';

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
  return useGet('/accounts/{accountId}/templates/{templateId}', { params: useTemplatePath() });
}

/** A version of the current template with its content; disabled without a number. */
export function useVersion(version: number | null | undefined) {
  const path = useTemplatePath();
  return useQuery({ ...versionQuery(path, version ?? 0), enabled: typeof version === 'number' });
}

export function versionQuery(path: TemplatePath, version: number) {
  return {
    ...getQuery('/accounts/{accountId}/templates/{templateId}/versions/{version}', {
      ...path,
      version,
    }),
    // Published versions are immutable.
    staleTime: 300_000,
  };
}

import { useQuery } from '@tanstack/react-query';
import type { TemplateContent } from '../../api/management.generated.ts';
import { api, taggedAnswerOf } from '../../api/management.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useSenders } from '../../overview/use-overview.ts';
import { chooseSender } from '../unverified-sender.tsx';
import { useTemplate, useTemplatePath, useVersion } from '../use-template.ts';
import { starterContent } from './starter.ts';

/** What the editor begins with. */
export interface InitialContent {
  readonly content: TemplateContent;
  /** Of the draft, for changes that must not overwrite another's; undefined where there is no draft. */
  readonly tag: string | undefined;
  readonly isDraft: boolean;
  /** Nothing of the template is stored yet. */
  readonly isNew: boolean;
}

/** The draft of the template, else its published version, else a beginning. */
export function useInitialContent(): {
  readonly initial: InitialContent | undefined;
  readonly error: unknown;
} {
  const path = useTemplatePath();
  const template = useTemplate();
  const senders = useSenders();
  const draft = useQuery({
    queryKey: ['draft', path.accountId, path.templateId],
    queryFn: () => readDraft(path),
    // What is being edited does not change under one's hands.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const published = useVersion(draft.data === null ? template.data?.publishedVersion : undefined);
  const error = template.error ?? draft.error ?? published.error;
  if (draft.data !== undefined && draft.data !== null) {
    const { value, tag } = draft.data;
    return { initial: { content: value.content, tag, isDraft: true, isNew: false }, error };
  }
  if (draft.data === undefined || template.data === undefined) return { initial: undefined, error };
  if (template.data.publishedVersion === null) {
    // Without the senders a template can be written too, and says later what its sender lacks.
    if (senders.isPending) return { initial: undefined, error };
    const sender = chooseSender(senders.data?.items ?? [], template.data.createdBy);
    const content = starterContent(template.data.name, sender);
    return { initial: { content, tag: undefined, isDraft: false, isNew: true }, error };
  }
  if (published.data === undefined) return { initial: undefined, error };
  return {
    initial: { content: published.data.content, tag: undefined, isDraft: false, isNew: false },
    error,
  };
}

/** @returns null where there is no draft */
async function readDraft(path: { accountId: string; templateId: string }) {
  try {
    return await taggedAnswerOf(
      api.GET('/accounts/{accountId}/templates/{templateId}/draft', { params: { path } }),
    );
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

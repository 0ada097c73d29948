import { useQuery } from '@tanstack/react-query';
import type { TemplateContent, TemplateDraftView } from '../../api/management.generated.ts';
import { api, taggedAnswerOf } from '../../api/management.ts';
import { isNotFound } from '../../api/problem.ts';
import { useSenders } from '../../overview/use-overview.ts';
import { chooseSender } from '../unverified-sender.tsx';
import { useTemplate, useTemplatePath, useVersion } from '../use-template.ts';
import { starterContent } from './starter.ts';

/** The content of a version or draft. */
export type EditedContent = TemplateContent & Pick<TemplateDraftView, 'unusedMarkup'>;

/** The initial state of the editor. */
export interface InitialContent {
  readonly content: EditedContent;
  /** ETag of the draft, to detect conflicts; undefined if there is no draft. */
  readonly tag: string | undefined;
  readonly isDraft: boolean;
  /** True if the template has no content yet. */
  readonly isNew: boolean;
}

/** The draft, or else the published version or the starter content. */
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
    // The content must not change while it is being edited.
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
    // The editor also works without senders and warns about a missing one later.
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

/** @returns null if there is no draft */
async function readDraft(path: { accountId: string; templateId: string }) {
  try {
    return await taggedAnswerOf(
      api.GET('/accounts/{accountId}/templates/{templateId}/draft', { params: { path } }),
    );
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

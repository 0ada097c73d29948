import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TemplateContent, TemplateDraftView } from '../../api/management.generated.ts';
import { api } from '../../api/management.ts';
import { isNotFound } from '../../api/problem.ts';
import { getQuery } from '../../api/use-get.ts';
import { chooseSender } from '../unverified-sender.tsx';
import { type TemplatePath, useTemplatePath, versionQuery } from '../use-template.ts';

/** The content of a version or draft. */
export type EditedContent = TemplateContent & Pick<TemplateDraftView, 'unusedMarkup'>;

/** The content that the editor starts with, and of each save. */
export interface InitialContent {
  readonly content: EditedContent;
  /** ETag of the draft, to detect conflicts; undefined if there is no draft. */
  readonly tag: string | undefined;
  readonly isDraft: boolean;
  /** True if the template has no content yet. */
  readonly isNew: boolean;
}

/** The draft, or else the published version or the starter content. */
export function useInitialContent() {
  const path = useTemplatePath();
  const client = useQueryClient();
  return useQuery({
    queryKey: ['draft', path.accountId, path.templateId],
    queryFn: () => readInitialContent(client, path),
    // It is read once: another content would replace what is being typed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** Starts the editor again with what is stored. */
export function useTakeStored() {
  const path = useTemplatePath();
  const client = useQueryClient();
  return () => client.resetQueries({ queryKey: ['draft', path.accountId, path.templateId] });
}

async function readInitialContent(
  client: QueryClient,
  path: TemplatePath,
): Promise<InitialContent> {
  const draft = await readTaggedDraft(path);
  if (draft !== null)
    return { content: draft.value.content, tag: draft.tag, isDraft: true, isNew: false };
  const { name, createdBy, publishedVersion } = await client.fetchQuery(
    getQuery('/accounts/{accountId}/templates/{templateId}', path),
  );
  const unsaved = { tag: undefined, isDraft: false };
  if (publishedVersion !== null) {
    const { content } = await client.fetchQuery(versionQuery(path, publishedVersion));
    return { content, ...unsaved, isNew: false };
  }
  // The editor also works without senders and warns about a missing one later.
  const sendersQuery = getQuery('/accounts/{accountId}/senders', path, { limit: 500 });
  const senders = await client.fetchQuery(sendersQuery).catch(() => undefined);
  const sender = chooseSender(senders?.items ?? [], createdBy);
  return { content: starterContent(name, sender), ...unsaved, isNew: true };
}

/** @returns null if there is no draft */
export async function readTaggedDraft(path: TemplatePath) {
  try {
    return await api.getTagged('/accounts/{accountId}/templates/{templateId}/draft', path);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

const mjml = `<mjml>
  <mj-head>
    <mj-attributes>
      <mj-all font-family="system-ui, Segoe UI, Roboto, sans-serif" />
      <mj-text font-size="16px" line-height="1.5" />
    </mj-attributes>
  </mj-head>
  <mj-body background-color="#f4f5f7">
    <mj-section background-color="#ffffff" border-radius="8px">
      <mj-column>
        <mj-text font-size="22px">Hello {{First Name}},</mj-text>
        <mj-text>This is the beginning of your message.</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/**
 * The initial content of a template.
 * @param sender a verified sender; undefined if there is none yet
 */
function starterContent(name: string, sender: string | undefined): TemplateContent {
  return { sender, subject: name, mjml, fields: { 'First Name': { sample: 'Ada' } } };
}

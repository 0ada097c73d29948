import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, taggedAnswerOf } from '../../api/management.ts';
import { requireValidJson } from '../../components/json-area.tsx';
import { type EditedImage, imagesToSave } from '../template-images.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedContent, InitialContent } from './use-draft.ts';

/** The edited draft, as seen by its actions. */
export interface EditedDraft {
  readonly content: EditedContent;
  /** Whether there are unsaved changes. */
  readonly changed: boolean;
  /** Whether there is a draft to publish or discard. */
  readonly stored: boolean;
  /** Whether publishing it would change anything. */
  readonly publishable: boolean;
  readonly saving: boolean;
  readonly error: unknown;
  /** Saves unsaved changes. @returns the ETag of the draft */
  save(): Promise<string | undefined>;
  /** The ETag of the draft as last loaded or saved. */
  seen(): string | undefined;
  /** Overwrites a concurrent change. */
  overwrite(): Promise<unknown>;
}

/** Saves the draft, also on Ctrl+S, with conflict detection. */
export function useSaveDraft(initial: InitialContent, content: EditedContent): EditedDraft {
  const path = useTemplatePath();
  const client = useQueryClient();
  const tag = useRef(initial.tag);
  const [saved, setSaved] = useState(initial.isDraft ? initial.content : undefined);
  /** Hashes of added images that the draft has, so that their contents are sent only once. */
  const storedImages = useRef<ReadonlyMap<string, string>>(new Map());
  const changed = saved === undefined ? content !== initial.content : content !== saved;

  const put = useMutation({
    async mutationFn() {
      requireValidJson();
      return taggedAnswerOf(
        api.PUT('/accounts/{accountId}/templates/{templateId}/draft', {
          params: { path },
          body: { ...content, images: imagesToSave(content.images, storedImages.current) },
          headers:
            tag.current === undefined ? { 'if-none-match': '*' } : { 'if-match': tag.current },
        }),
      );
    },
    async onSuccess(answer) {
      tag.current = answer.tag;
      setSaved(content);
      const hashes = answer.value.content.images?.map(({ sha256 }) => sha256) ?? [];
      storedImages.current = new Map(
        (content.images ?? []).flatMap(({ content: base64 }: EditedImage, index) =>
          base64 === undefined ? [] : [[base64, hashes[index] ?? '']],
        ),
      );
      await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
    },
  });
  const { mutateAsync } = put;

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return;
      event.preventDefault();
      // The page shows the error.
      mutateAsync().catch(() => undefined);
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [mutateAsync]);

  return {
    content,
    changed,
    stored: saved !== undefined,
    publishable: saved !== undefined || changed || initial.isNew,
    saving: put.isPending,
    error: put.error,
    save: async () => {
      requireValidJson();
      if (changed || (initial.isNew && saved === undefined)) await mutateAsync();
      return tag.current;
    },
    seen: () => tag.current,
    async overwrite() {
      const params = { path };
      const draft = api.GET('/accounts/{accountId}/templates/{templateId}/draft', { params });
      storedImages.current = new Map();
      tag.current = (await draft).response.headers.get('etag') ?? undefined;
      await mutateAsync();
    },
  };
}

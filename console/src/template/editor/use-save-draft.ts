import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { TemplateContent } from '../../api/management.generated.ts';
import { api, taggedAnswerOf } from '../../api/management.ts';
import { useTemplatePath } from '../use-template.ts';
import type { InitialContent } from './use-draft.ts';

/** The draft that is being edited, as what can be done with it sees it. */
export interface EditedDraft {
  readonly content: TemplateContent;
  /** Whether something was typed that is not saved. */
  readonly changed: boolean;
  /** Whether there is a draft that could be published or thrown away. */
  readonly stored: boolean;
  readonly saving: boolean;
  readonly error: unknown;
  /** Saves what is not saved. @returns the tag of the draft as it is then */
  save(): Promise<string | undefined>;
  /** The tag of the draft as it was read or saved last. */
  seen(): string | undefined;
  /** Saves over what somebody else saved meanwhile. */
  overwrite(): Promise<unknown>;
}

/** Saves the draft, unless somebody else changed it since it was read; also by Ctrl+S. */
export function useSaveDraft(initial: InitialContent, content: TemplateContent): EditedDraft {
  const path = useTemplatePath();
  const client = useQueryClient();
  const tag = useRef(initial.tag);
  const [saved, setSaved] = useState(initial.isDraft ? initial.content : undefined);
  const changed = saved === undefined ? content !== initial.content : content !== saved;

  const put = useMutation({
    mutationFn: () =>
      taggedAnswerOf(
        api.PUT('/accounts/{accountId}/templates/{templateId}/draft', {
          params: { path },
          body: content,
          headers:
            tag.current === undefined ? { 'if-none-match': '*' } : { 'if-match': tag.current },
        }),
      ),
    async onSuccess(answer) {
      tag.current = answer.tag;
      setSaved(content);
      await client.invalidateQueries({ queryKey: ['templates', path.accountId] });
    },
  });
  const { mutateAsync } = put;

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return;
      event.preventDefault();
      // What went wrong stands on the page.
      mutateAsync().catch(() => undefined);
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [mutateAsync]);

  return {
    content,
    changed,
    stored: saved !== undefined,
    saving: put.isPending,
    error: put.error,
    save: async () => {
      if (changed || (initial.isNew && saved === undefined)) await mutateAsync();
      return tag.current;
    },
    seen: () => tag.current,
    async overwrite() {
      const params = { path };
      const draft = api.GET('/accounts/{accountId}/templates/{templateId}/draft', { params });
      tag.current = (await draft).response.headers.get('etag') ?? undefined;
      await mutateAsync();
    },
  };
}

import { useHotkeys } from '@mantine/hooks';
import { useMay } from '../../account/use-me.ts';
import { api, ifMatch, ifNone, type Precondition } from '../../api/management.ts';
import { useRefresh } from '../../api/use-refresh.ts';
import { requireValidJson } from '../../components/json-area.tsx';
import type { Edit, SentEdit } from '../../form/edit.ts';
import { useForm } from '../../form/use-form.ts';
import { imagesToSave, withHashes } from '../edited-images.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedContent, InitialContent } from './use-draft.ts';
import { readTaggedDraft } from './use-draft.ts';

/** The edited draft, as seen by its actions. */
export interface EditedDraft {
  readonly content: EditedContent;
  readonly change: Edit<InitialContent, EditedContent>['change'];
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
export function useSaveDraft(initial: InitialContent): EditedDraft {
  const path = useTemplatePath();
  const refresh = useRefresh('templates');
  const may = useMay();

  async function put(
    { values: content }: SentEdit<InitialContent, EditedContent>,
    precondition: Precondition,
    sendsAll = false,
  ): Promise<InitialContent> {
    requireValidJson();
    const body = { ...content, images: imagesToSave(content.images, sendsAll) };
    const { value, tag } = await api.putTagged(
      '/accounts/{accountId}/templates/{templateId}/draft',
      path,
      body,
      precondition,
    );
    await refresh();
    const images = withHashes(content.images, value.content.images);
    return { content: { ...content, images }, tag, isDraft: true, isNew: false };
  }

  const form = useForm({
    stored: initial,
    toValues: ({ content }) => content,
    save: (sent) => put(sent, sent.stored.tag === undefined ? ifNone : ifMatch(sent.stored.tag)),
  });
  const { edit, stored } = form;

  async function save() {
    if (edit.isChanged() || edit.stored.isNew) return (await form.save()).tag;
    requireValidJson();
    return edit.stored.tag;
  }

  useHotkeys(
    // The page shows the error.
    [['mod+S', () => void (may('templates:write') && save().catch(() => undefined))]],
    [],
    true,
  );

  return {
    content: form.values,
    change: form.change,
    changed: form.changed,
    stored: stored.isDraft,
    publishable: stored.isDraft || form.changed || stored.isNew,
    saving: form.saving,
    error: form.error,
    save,
    seen: () => edit.stored.tag,
    async overwrite() {
      const other = await readTaggedDraft(path).catch(() => null);
      // The other draft may lack the images that were saved with this one.
      return form.save((sent) => put(sent, ifMatch(other?.tag), true));
    },
  };
}

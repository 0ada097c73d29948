import './editor.css';
import '../editor-texts.ts';
import { Group, NativeSelect, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useMay } from '../../account/use-me.ts';
import type {
  TemplateContent,
  TemplatePreview,
  TemplateProblem,
  TemplateVariant,
} from '../../api/management.generated.ts';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { useSenders } from '../../overview/use-overview.ts';
import { text } from '../../texts/text.ts';
import type { EditedImage } from '../edited-images.ts';
import { useImageUrls } from '../template-images.ts';
import { TemplateTabs } from '../template-tabs.tsx';
import { UnverifiedSender } from '../unverified-sender.tsx';
import { useTemplatePath } from '../use-template.ts';
import { DraftState, EditorActions } from './editor-actions.tsx';
import { FieldsPanel, sampleName } from './fields-panel.tsx';
import { ImagesPanel } from './images-panel.tsx';
import { LineInput } from './line-input.tsx';
import { PastMessageSelect } from './past-message-select.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { TemplateProblemList } from './problem-list.tsx';
import { SaveProblem } from './save-problem.tsx';
import { type InsertImage, type ShowOrigin, SourcePanel } from './source-panel.tsx';
import { changeBody, withLanguage, withTableRoles } from './switch-markup.ts';
import type { InitialContent } from './use-draft.ts';
import { useImages } from './use-images.ts';
import { usePreview } from './use-preview.ts';
import { useSaveDraft } from './use-save-draft.ts';
import { VariantSwitch } from './variant-switch.tsx';

const route = getRouteApi('/$account/templates/$template');

const noNames: readonly string[] = [];

const noImages: readonly EditedImage[] = [];

const noProblems: readonly TemplateProblem[] = [];

/** Edits the draft of a template next to its preview. */
export function Editor({ initial }: { initial: InitialContent }) {
  const may = useMay();
  const draft = useSaveDraft(initial);
  const { content, change } = draft;
  const [chosen, choose] = useState<string>();
  const shown = chosen === undefined ? undefined : content.variants?.[chosen];
  const variant = shown === undefined ? undefined : chosen;
  const [messageId, chooseMessage] = useState<string>();
  const preview = usePreview(content, { messageId, locale: variant });
  const fieldNames = preview.data?.fields.map(({ name }) => name) ?? noNames;
  const unfilled = useMemo(() => unfilledOf(preview.data), [preview.data]);
  const imageUrls = useImageUrls(useTemplatePath(), content.images);
  const changeShown = (part: Partial<TemplateVariant>) =>
    change((current) => changeBody(current, variant, part));
  const readOnly = !may('templates:write');
  const [view, setView] = useState(route.useSearch().view ?? 'code');
  const navigate = route.useNavigate();
  const insertImage = useRef<InsertImage>(null);
  const showOrigin = useRef<ShowOrigin>(null);
  const show = useCallback(
    (shown: 'code' | 'preview') => {
      // What isn't shown yet can't get the focus.
      flushSync(() => setView(shown));
      void navigate({ search: shown === 'preview' ? { view: shown } : {}, replace: true });
    },
    [navigate],
  );
  const onTextClick = useCallback(
    (clicked: string) => {
      show('code');
      showOrigin.current?.(clicked);
    },
    [show],
  );
  /** Changes when the source editor has to show what it didn't change itself. */
  const [replacements, setReplacements] = useState(0);
  const images = useImages({
    content,
    setContent: change,
    show: (image) => insertImage.current?.(image),
    onReplaced: () => setReplacements((count) => count + 1),
  });

  /** Replaces markup that the source editor shows. */
  function replace(part: Partial<TemplateVariant>) {
    changeShown(part);
    setReplacements((count) => count + 1);
  }

  function fixOf(rule: string): (() => void) | undefined {
    if (readOnly) return undefined;
    if (rule === 'no-language') return () => replace(withLanguage(content, variant));
    if (rule === 'layout-table') {
      const part = withTableRoles(content, variant);
      return part && (() => replace(part));
    }
    const field = /subject$/.test(rule) ? subjectId : rule === 'no-preview' ? previewTextId : null;
    if (field === null) return undefined;
    return () => {
      show('code');
      document.getElementById(field)?.focus();
    };
  }

  function fillIn(name: string) {
    show('code');
    document.querySelector<HTMLElement>(`[name=${CSS.escape(sampleName(name))}]`)?.focus();
  }

  return (
    <TemplateTabs
      page={view === 'preview' ? 'preview' : 'edit'}
      choose={(page) => show(page === 'edit' ? 'code' : page)}
      state={<DraftState draft={draft} />}
      actions={(menu) => <EditorActions draft={draft} menu={menu} />}
    >
      <SaveProblem draft={draft} />
      <div className="template-areas" data-view={view}>
        <Stack gap="sm">
          <Group align="flex-end" gap="sm" className="variant-fields">
            <VariantSwitch
              content={content}
              change={change}
              variant={variant}
              choose={choose}
              readOnly={readOnly}
            />
            {variant === undefined && (
              <SenderField content={content} change={change} readOnly={readOnly} />
            )}
          </Group>
          {variant === undefined && <UnverifiedSender sender={content.sender} />}
          <HeaderFields
            content={shown ?? content}
            change={changeShown}
            fields={fieldNames}
            readOnly={readOnly}
          />
          <SourcePanel
            key={`${variant ?? ''} ${replacements}`}
            insertImage={insertImage}
            showOrigin={showOrigin}
            onImages={images.host}
            content={content}
            setContent={change}
            fields={fieldNames}
            readOnly={readOnly}
            variant={variant}
            problems={preview.data?.problems ?? noProblems}
          />
        </Stack>
        <div className="template-preview">
          <ProblemAlert error={preview.error} retry={() => preview.refetch()} />
          <PreviewPane
            preview={preview.data}
            busy={preview.isFetching}
            images={imageUrls}
            unfilled={unfilled}
            fillIn={readOnly || messageId !== undefined ? undefined : fillIn}
            onTextClick={onTextClick}
          >
            {may('messages:read') && (
              <PastMessageSelect messageId={messageId} choose={chooseMessage} />
            )}
          </PreviewPane>
          <TemplateProblemList preview={preview.data} fixOf={fixOf} />
        </div>
        <div>
          <FieldsPanel
            found={preview.data?.fields ?? []}
            settings={content.fields ?? {}}
            onChange={(fields) => change({ fields })}
          />
          <ImagesPanel
            images={content.images ?? noImages}
            urls={imageUrls}
            actions={images}
            readOnly={readOnly}
          />
        </div>
      </div>
    </TemplateTabs>
  );
}

const subjectId = 'template-subject';
const previewTextId = 'template-preview-text';

/** The fields that the preview shows as `{{Name}}`, because there is no value for them. */
function unfilledOf(preview: TemplatePreview | undefined): readonly string[] {
  const { subject = '', previewText = '', html, text: plain } = preview?.rendered ?? {};
  const shown = [subject, previewText, html, plain].join(' ');
  const names = preview?.fields.map(({ name }) => name) ?? noNames;
  return names.filter((name) => shown.includes(`{{${name}}}`));
}

/** Parts of the default content or of a variant. */
interface PartProps {
  content: TemplateVariant;
  change: (part: Partial<TemplateVariant>) => void;
  /** Names to insert. */
  fields: readonly string[];
  readOnly: boolean;
}

function HeaderFields({ content, change, fields, readOnly }: PartProps) {
  return (
    <div className="header-fields">
      <LineInput
        id={subjectId}
        label={text('editor.subject')}
        required
        value={content.subject}
        fields={fields}
        readOnly={readOnly}
        change={(subject) => change({ subject })}
      />
      <LineInput
        id={previewTextId}
        label={text('editor.previewText')}
        title={text('editor.previewTextHint')}
        value={content.previewText ?? ''}
        fields={fields}
        readOnly={readOnly}
        change={(value) => change({ previewText: value || undefined })}
      />
    </div>
  );
}

interface SenderFieldProps {
  content: TemplateContent;
  change: (part: Partial<TemplateContent>) => void;
  readOnly: boolean;
}

function SenderField({ content, change, readOnly }: SenderFieldProps) {
  const senders = useSenders().data?.items.filter(({ verified }) => verified) ?? [];
  const isListed = senders.some(({ address }) => address === content.sender);
  return (
    <NativeSelect
      label={text('editor.sender')}
      title={text('editor.senderHint')}
      flex="1 1 14rem"
      value={content.sender ?? ''}
      disabled={readOnly}
      onChange={(event) => change({ sender: event.currentTarget.value || undefined })}
      data={[
        { value: '', label: text('editor.senderDefault') },
        ...(content.sender !== undefined && !isListed ? [content.sender] : []),
        ...senders.map(({ address }) => address),
      ]}
    />
  );
}

import { Group, NativeSelect, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useMay } from '../../account/use-me.ts';
import type {
  TemplateContent,
  TemplateProblem,
  TemplateVariant,
} from '../../api/management.generated.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { useSenders } from '../../overview/use-overview.ts';
import { text } from '../../texts/text.ts';
import { type EditedImage, useImageUrls } from '../template-images.ts';
import { TemplateTabs } from '../template-tabs.tsx';
import { UnverifiedSender } from '../unverified-sender.tsx';
import { useTemplatePath } from '../use-template.ts';
import { EditorActions } from './editor-actions.tsx';
import { FieldsPanel } from './fields-panel.tsx';
import { ImagesPanel } from './images-panel.tsx';
import { PastMessageSelect } from './past-message-select.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { TemplateProblemList } from './problem-list.tsx';
import { SaveProblem } from './save-problem.tsx';
import { SourceEditor } from './source-editor.tsx';
import type { InitialContent } from './use-draft.ts';
import { usePreview } from './use-preview.ts';
import { useSaveDraft } from './use-save-draft.ts';
import { VariantSwitch } from './variant-switch.tsx';

const noImages: readonly EditedImage[] = [];

const noProblems: readonly TemplateProblem[] = [];

/** Edits the draft of a template next to its preview. */
export function Editor({ initial }: { initial: InitialContent }) {
  const may = useMay();
  const [content, setContent] = useState(initial.content);
  const draft = useSaveDraft(initial, content);
  const [chosen, choose] = useState<string>();
  const shown = chosen === undefined ? undefined : content.variants?.[chosen];
  const variant = shown === undefined ? undefined : chosen;
  const [messageId, chooseMessage] = useState<string>();
  const preview = usePreview(content, { messageId, locale: variant });
  const imageUrls = useImageUrls(useTemplatePath(), content.images);
  const change = (part: Partial<TemplateContent>) => setContent({ ...content, ...part });
  const changeShown = (part: Partial<TemplateVariant>) =>
    shown === undefined || variant === undefined
      ? change(part)
      : change({ variants: { ...content.variants, [variant]: { ...shown, ...part } } });
  const readOnly = !may('templates:write');

  useUnsaved(draft.changed);
  useBlocker({
    shouldBlockFn: () => draft.changed && !confirm(text('editor.lost')),
    enableBeforeUnload: () => draft.changed,
  });

  return (
    <TemplateTabs page="edit" actions={<EditorActions draft={draft} />}>
      <SaveProblem draft={draft} />
      <div className="template-areas">
        <Stack gap="sm">
          <VariantSwitch
            content={content}
            change={change}
            variant={variant}
            choose={choose}
            readOnly={readOnly}
          />
          <HeaderFields content={shown ?? content} change={changeShown} readOnly={readOnly} />
          {variant === undefined && (
            <SenderField content={content} change={change} readOnly={readOnly} />
          )}
          <Source
            key={variant ?? ''}
            content={shown ?? content}
            change={changeShown}
            readOnly={readOnly}
            variant={variant}
            problems={preview.data?.problems ?? noProblems}
          />
        </Stack>
        <div className="template-preview">
          <ProblemAlert error={preview.error} retry={() => preview.refetch()} />
          <PreviewPane preview={preview.data} busy={preview.isFetching} images={imageUrls}>
            {may('messages:read') && (
              <PastMessageSelect messageId={messageId} choose={chooseMessage} />
            )}
          </PreviewPane>
          <TemplateProblemList preview={preview.data} />
        </div>
        <div>
          <ImagesPanel
            images={content.images ?? noImages}
            urls={imageUrls}
            readOnly={readOnly}
            onChange={(update) =>
              setContent((current) => ({ ...current, images: update(current.images ?? noImages) }))
            }
          />
          <FieldsPanel
            found={preview.data?.fields ?? []}
            settings={content.fields ?? {}}
            onChange={(fields) => change({ fields })}
          />
        </div>
      </div>
    </TemplateTabs>
  );
}

/** Sets the text direction on the input itself, so it doesn't affect the label. */
const ownDirection = { input: { dir: 'auto' } };

/** Parts of the default content or of a variant. */
interface PartProps {
  content: TemplateVariant;
  change: (part: Partial<TemplateVariant>) => void;
  readOnly: boolean;
}

function HeaderFields({ content, change, readOnly }: PartProps) {
  return (
    <>
      <TextInput
        label={text('editor.subject')}
        attributes={ownDirection}
        required
        value={content.subject}
        readOnly={readOnly}
        onChange={(event) => change({ subject: event.currentTarget.value })}
      />
      <TextInput
        label={text('editor.previewText')}
        description={text('editor.previewTextHint')}
        attributes={ownDirection}
        value={content.previewText ?? ''}
        readOnly={readOnly}
        onChange={(event) => change({ previewText: event.currentTarget.value || undefined })}
      />
    </>
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
    <>
      <NativeSelect
        label={text('editor.sender')}
        description={text('editor.senderHint')}
        value={content.sender ?? ''}
        disabled={readOnly}
        onChange={(event) => change({ sender: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: text('editor.senderDefault') },
          ...(content.sender !== undefined && !isListed ? [content.sender] : []),
          ...senders.map(({ address }) => address),
        ]}
      />
      <UnverifiedSender sender={content.sender} />
    </>
  );
}

type Part = 'mjml' | 'html' | 'text';

interface SourceProps extends PartProps {
  problems: readonly TemplateProblem[];
  variant: string | undefined;
}

function Source({ content, change, readOnly, problems, variant }: SourceProps) {
  const markup = content.html === undefined ? 'mjml' : 'html';
  const [part, setPart] = useState<Part>(markup);
  const partProblems = useMemo(
    () => problems.filter((problem) => problem.part === part && problem.variant === variant),
    [problems, part, variant],
  );

  function choose(value: string) {
    const chosen = value as Part;
    // The format can only be chosen while the template is empty; content is never converted.
    if (chosen !== 'text' && chosen !== markup) {
      if ((content[markup] ?? '').trim() !== '') return;
      change(chosen === 'html' ? { html: '', mjml: undefined } : { mjml: '', html: undefined });
    }
    setPart(chosen);
  }

  const empty = (content.html ?? content.mjml ?? '').trim() === '';
  const other = markup === 'html' ? 'mjml' : 'html';
  return (
    <div>
      <Group gap="sm" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label={text('editor.source')}
          value={part}
          onChange={choose}
          data={(['mjml', 'html', 'text'] as const).map((value) => ({
            value,
            label: text(`editor.${value}`),
            disabled: value === other && !empty,
          }))}
        />
        {!empty && !readOnly && (
          <Text size="xs" c="dimmed">
            {text('editor.otherMarkup', {
              markup: text(`editor.${markup}`),
              other: text(`editor.${other}`),
            })}
          </Text>
        )}
      </Group>
      <SourceEditor
        key={part}
        label={text(`editor.${part}`)}
        value={content[part] ?? ''}
        onChange={(value) =>
          change({ [part]: part === 'text' && value.trim() === '' ? undefined : value })
        }
        problems={partProblems}
        readOnly={readOnly}
      />
    </div>
  );
}

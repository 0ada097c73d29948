import { Group, SegmentedControl, Text } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { TemplateProblem, TemplateVariant } from '../../api/management.generated.ts';
import { text } from '../../texts/text.ts';
import { type BlockName, blocks, imageBlock } from './blocks.ts';
import type { ShownImage } from './hosted-images.ts';
import { InsertMenu } from './insert-menu.tsx';
import { SourceEditor, type SourceHandle } from './source-editor.tsx';
import { changeBody, markupOf, switchMarkup } from './switch-markup.ts';
import type { EditedContent } from './use-draft.ts';

type Part = 'mjml' | 'html' | 'text';

const parts: readonly Part[] = ['mjml', 'html', 'text'];

/** Puts an image into the markup. */
export type InsertImage = (image: ShownImage) => void;

/** Selects in the shown source what text of the preview was rendered from. */
export type ShowOrigin = (rendered: string) => void;

interface SourcePanelProps {
  /** Set while the panel is shown. */
  showOrigin: { current: ShowOrigin | null };
  /** Set while markup is shown. */
  insertImage: { current: InsertImage | null };
  /** Images that are pasted or dropped. */
  onImages: (files: readonly File[]) => void;
  content: EditedContent;
  setContent: (update: (current: EditedContent) => EditedContent) => void;
  /** The locale of the variant that is edited; undefined: the default content. */
  variant: string | undefined;
  /** Names to insert. */
  fields: readonly string[];
  problems: readonly TemplateProblem[];
  readOnly: boolean;
}

/** The MJML, HTML or plain text of the default content or of a variant. */
export function SourcePanel(props: SourcePanelProps) {
  const { insertImage, showOrigin, onImages, content, setContent, variant, fields } = props;
  const { problems, readOnly } = props;
  const shown: TemplateVariant =
    variant === undefined ? content : (content.variants?.[variant] ?? content);
  const markup = markupOf(shown);
  const [part, setPart] = useState<Part>(markup);
  const source = useRef<SourceHandle>(null);
  const partProblems = useMemo(
    () => problems.filter((problem) => problem.part === part && problem.variant === variant),
    [problems, part, variant],
  );
  const other = markup === 'html' ? 'mjml' : 'html';
  const isKept = content.unusedMarkup?.[variant ?? 'default'] !== undefined;

  useEffect(() => {
    insertImage.current =
      part === 'text' ? null : (image) => source.current?.insertBlock(imageBlock(image), markup);
    return () => {
      insertImage.current = null;
    };
  }, [insertImage, part, markup]);

  useEffect(() => {
    showOrigin.current = (rendered) => source.current?.showOrigin(rendered);
    return () => {
      showOrigin.current = null;
    };
  }, [showOrigin]);

  function choose(value: string) {
    const chosen = value as Part;
    if (chosen === other) setContent((current) => switchMarkup(current, variant, chosen));
    setPart(chosen);
  }

  function insertBlock(name: BlockName) {
    const { fields: settings = {} } = blocks[name] as { fields?: EditedContent['fields'] };
    setContent((current) => ({ ...current, fields: { ...settings, ...current.fields } }));
    source.current?.insertBlock(blocks[name], markup);
  }

  return (
    <div>
      <Group gap="sm" mt={8} mb="xs" justify="space-between" className="source-bar">
        <SegmentedControl
          size="xs"
          aria-label={text('editor.source')}
          value={part}
          onChange={choose}
          data={parts.map((value) => ({
            value,
            label: text(`editor.${value}`),
            disabled: readOnly && value === other,
          }))}
        />
        {!readOnly && (
          <InsertMenu
            insertBlock={part === 'text' ? undefined : insertBlock}
            fields={fields}
            insert={(before, after) => source.current?.insertText(before, after)}
          />
        )}
      </Group>
      <SourceEditor
        key={part}
        handle={source}
        fields={fields}
        onImages={readOnly || part === 'text' ? undefined : onImages}
        label={text(`editor.${part}`)}
        value={shown[part] ?? ''}
        onChange={(value) =>
          setContent((current) =>
            changeBody(current, variant, {
              [part]: part === 'text' && value.trim() === '' ? undefined : value,
            }),
          )
        }
        problems={partProblems}
        readOnly={readOnly}
      />
      {isKept && !readOnly && (
        <Text size="xs" c="dimmed" mt={4}>
          {text('editor.keptMarkup', {
            markup: text(`editor.${markup}`),
            other: text(`editor.${other}`),
          })}
        </Text>
      )}
    </div>
  );
}

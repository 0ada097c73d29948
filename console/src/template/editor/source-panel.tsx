import { Button, Group, Menu, SegmentedControl } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { TemplateProblem, TemplateVariant } from '../../api/management.generated.ts';
import { Icon } from '../../components/icon.tsx';
import { Note } from '../../components/note.tsx';
import { text } from '../../texts/text.ts';
import { type BlockName, blocks, imageBlock } from './blocks.ts';
import { FieldDialog, type FieldTag, type InsertText } from './field-dialog.tsx';
import { FieldItems, MenuGroup, menuPlace } from './field-menu.tsx';
import type { ShownImage } from './hosted-images.ts';
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
        <Note mt={4}>
          {text('editor.keptMarkup', {
            markup: text(`editor.${markup}`),
            other: text(`editor.${other}`),
          })}
        </Note>
      )}
    </div>
  );
}

interface InsertMenuProps {
  /** Undefined in plain text, which has no blocks. */
  insertBlock: ((name: BlockName) => void) | undefined;
  fields: readonly string[];
  insert: InsertText;
}

const blockNames = Object.keys(blocks) as BlockName[];

/** Inserts blocks, fields and sections into the source. */
function InsertMenu({ insertBlock, fields, insert }: InsertMenuProps) {
  const [asked, ask] = useState<FieldTag>();
  return (
    <>
      {/* The source gets the focus, not the button. */}
      <Menu
        position="bottom-end"
        portalProps={menuPlace}
        returnFocus={false}
        shadow="md"
        width={240}
      >
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            rightSection={<Icon name="down" size={14} />}
          >
            {text('editor.insert')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} className="scrolls">
          {insertBlock !== undefined && (
            <>
              <MenuGroup label={text('editor.blocks')}>
                {blockNames.map((name) => (
                  <Menu.Item key={name} onClick={() => insertBlock(name)}>
                    {text(`editor.block.${name}`)}
                  </Menu.Item>
                ))}
              </MenuGroup>
              <Menu.Divider />
            </>
          )}
          <FieldItems fields={fields} insert={insert} ask={ask} />
        </Menu.Dropdown>
      </Menu>
      <FieldDialog tag={asked} close={() => ask(undefined)} fields={fields} insert={insert} />
    </>
  );
}

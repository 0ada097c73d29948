import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  Decoration,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { TemplateProblem } from '../../api/management.generated.ts';
import { text } from '../../texts/text.ts';
import type { Block, MarkupKind } from './blocks.ts';
import { editorTheme } from './editor-theme.ts';
import { findFirstText, findText } from './find-text.ts';
import { placeBlock } from './place-block.ts';

/** With more lines of styles before its text, a source opens at the text. */
const maxLinesBeforeText = 8;

/** Inserts into the source at the cursor, and finds text in it. */
export interface SourceHandle {
  /** @param after follows the selection; otherwise, the text replaces it */
  insertText(text: string, after?: string): void;
  insertBlock(block: Block, markup: MarkupKind): void;
  /** Selects what text of the preview was rendered from, if it is found. */
  showOrigin(rendered: string): void;
}

interface SourceEditorProps {
  /** Set while the editor is shown. */
  handle: { current: SourceHandle | null };
  /** Names to complete after `{{`. */
  fields: readonly string[];
  /** Images that are pasted or dropped. */
  onImages: ((files: readonly File[]) => void) | undefined;
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Problems in this text, marked at their position. */
  problems: readonly TemplateProblem[];
  readOnly?: boolean;
}

/**
 * Edits MJML, HTML or plain text. Tab leaves the editor, so it isn't a keyboard trap (WCAG 2.1.2).
 */
export function SourceEditor(props: SourceEditorProps) {
  const { handle, label, value, problems, readOnly } = props;
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const first = useRef(value);
  const dark = useComputedColorScheme('light') === 'dark';
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    if (container.current === null) return;
    const source = view.current?.state.doc.toString() ?? first.current;
    const textAt = findFirstText(source);
    const isFar = source.slice(0, textAt).split('\n').length > maxLinesBeforeText;
    const editor = new EditorView({
      parent: container.current,
      ...(isFar && {
        scrollTo: EditorView.scrollIntoView(textAt, { y: 'start', yMargin: 40 }),
      }),
      state: EditorState.create({
        doc: source,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          autocompletion(),
          searchPanel(),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
          EditorState.languageData.of(() => [
            {
              autocomplete: (context: CompletionContext) =>
                completeField(context, latest.current.fields),
            },
          ]),
          EditorView.domEventHandlers({
            paste: (event) => takeImages(event, event.clipboardData, latest.current.onImages),
            drop: (event) => takeImages(event, event.dataTransfer, latest.current.onImages),
          }),
          html({ selfClosingTags: true, matchClosingTags: false }),
          highlightFields,
          lintGutter(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(readOnly ?? false),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
          editorTheme(dark),
        ],
      }),
    });
    view.current = editor;
    handle.current = handleOf(editor);
    return () => {
      handle.current = null;
      editor.destroy();
    };
  }, [dark, label, readOnly, handle]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    const marks = problems.map((problem) => diagnosticOf(problem, doc));
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems]);

  return <div ref={container} className="editor source" />;
}

function handleOf(editor: EditorView): SourceHandle {
  const insert = (from: number, to: number, text: string, selected: number) => {
    editor.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + selected },
      scrollIntoView: true,
      userEvent: 'input',
    });
    editor.focus();
  };
  return {
    insertText(text, after) {
      const { from, to } = editor.state.selection.main;
      if (after === undefined) return insert(from, to, text, text.length);
      const inside = text + editor.state.sliceDoc(from, to);
      insert(from, to, inside + after, inside.length);
    },
    insertBlock(block, markup) {
      const { at, text } = placeBlock(editor.state, block, markup);
      insert(at, at, text, text.trimEnd().length);
    },
    showOrigin(rendered) {
      const found = findText(editor.state.doc.toString(), rendered);
      if (found === undefined) return;
      editor.dispatch({
        selection: { anchor: found.from, head: found.to },
        effects: EditorView.scrollIntoView(found.from, { y: 'center' }),
      });
      editor.focus();
    },
  };
}

/** Completes the name of a field, which can have spaces. */
function completeField(context: CompletionContext, fields: readonly string[]) {
  const typed = context.matchBefore(/\{\{[#^/{]?[^{}]*/);
  if (typed === null) return null;
  const start = /^\{\{[#^/{]?/.exec(typed.text)?.[0].length ?? 0;
  const closed = context.state.sliceDoc(context.pos, context.pos + 2) === '}}';
  return {
    from: typed.from + start,
    options: fields.map((name) => ({
      label: name,
      apply: closed ? name : `${name}}}`,
      type: 'variable',
    })),
    validFor: /^[^{}]*$/,
  };
}

function takeImages(
  event: Event,
  data: DataTransfer | null,
  onImages: ((files: readonly File[]) => void) | undefined,
): boolean {
  const files = [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
  if (files.length === 0 || onImages === undefined) return false;
  event.preventDefault();
  onImages(files);
  return true;
}

/** Converts the line and column (in code points) of a problem to a text range. */
function diagnosticOf({ severity, message, line, column }: TemplateProblem, doc: Text): Diagnostic {
  const number = Math.min(Math.max(line ?? 1, 1), doc.lines);
  const { from, to, text } = doc.line(number);
  const before = Array.from(text)
    .slice(0, Math.max((column ?? 1) - 1, 0))
    .join('');
  const start = Math.min(from + before.length, to);
  return { from: start, to, severity, message };
}

const matcher = new MatchDecorator({
  regexp: /\{\{\{?[^{}]*\}\}\}?/g,
  decoration: Decoration.mark({ class: 'cm-field' }),
});

/** Highlights fields and sections. */
const highlightFields = ViewPlugin.define(
  (view) => ({
    decorations: matcher.createDeco(view),
    update(update) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

/** Search and replace above the source, because the browser's own search only finds the lines in sight. */
function searchPanel(): Extension {
  return [
    search({ top: true }),
    EditorState.phrases.of({
      Find: text('editor.find'),
      next: text('editor.findNext'),
      previous: text('editor.findPrevious'),
      all: text('editor.findAll'),
      'match case': text('editor.findCase'),
      regexp: text('editor.findPattern'),
      'by word': text('editor.findWord'),
      Replace: text('editor.replace'),
      replace: text('editor.replace'),
      'replace all': text('editor.replaceAll'),
      close: text('close'),
    }),
  ];
}

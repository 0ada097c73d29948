import { autocompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { TemplateProblem } from '../../api/management.generated.ts';
import { editorTheme } from './editor-theme.ts';
import { highlightFields } from './highlight-fields.ts';

interface SourceEditorProps {
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
export function SourceEditor({ label, value, onChange, problems, readOnly }: SourceEditorProps) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const first = useRef(value);
  const change = useRef(onChange);
  const dark = useComputedColorScheme('light') === 'dark';
  change.current = onChange;

  useEffect(() => {
    if (container.current === null) return;
    const editor = new EditorView({
      parent: container.current,
      state: EditorState.create({
        doc: view.current?.state.doc.toString() ?? first.current,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          autocompletion(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          html({ selfClosingTags: true, matchClosingTags: false }),
          highlightFields,
          lintGutter(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(readOnly ?? false),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current(update.state.doc.toString());
          }),
          editorTheme(dark),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [dark, label, readOnly]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    const marks = problems.map((problem) => diagnosticOf(problem, doc));
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems]);

  return <div ref={container} className="editor source" />;
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

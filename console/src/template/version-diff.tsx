import './editor/editor.css';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { text } from '../texts/text.ts';
import { editorTheme } from './editor/editor-theme.ts';

/** Fills what was removed and what was added alike, in the colors of the rendered comparison, and signs their lines. */
function diffTheme(dark: boolean) {
  const [removed, added] = dark
    ? [
        { line: '#541c1c66', text: '#7f2626', sign: '#ffc9c9' },
        { line: '#17402a73', text: '#1f5c3b', sign: '#b2f2c0' },
      ]
    : [
        { line: '#fdeeee', text: '#f9c6c6', sign: '#8a1616' },
        { line: '#eaf7ed', text: '#b9e6c4', sign: '#17512a' },
      ];
  const sign = (content: string) => ({
    content: `"${content}"`,
    position: 'absolute',
    left: '6px',
    fontWeight: '600',
  });
  return EditorView.theme(
    {
      '.cm-line, .cm-deletedLine': { position: 'relative', paddingLeft: '22px' },
      '.cm-deletedChunk': { paddingLeft: '0', backgroundColor: removed.line },
      '.cm-deletedLine::before': { ...sign('−'), color: removed.sign },
      '&.cm-merge-b .cm-changedLine': { backgroundColor: added.line },
      '&.cm-merge-b .cm-changedLine::before': { ...sign('+'), color: added.sign },
      '&.cm-merge-b .cm-deletedChunk .cm-deletedText': { background: removed.text },
      '&.cm-merge-b .cm-changedText': { background: added.text },
      '.cm-deletedText, .cm-changedText': { borderRadius: '3px' },
    },
    { dark },
  );
}

/** A line diff: removed lines above the added ones. */
export function VersionDiff({ before, after }: { before: string; after: string }) {
  const container = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    if (container.current === null) return;
    const view = new EditorView({
      parent: container.current,
      state: EditorState.create({
        doc: after,
        extensions: [
          lineNumbers(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({
            'aria-label': text('versions.content'),
            tabindex: '0',
          }),
          unifiedMergeView({
            original: before,
            mergeControls: false,
            collapseUnchanged: { margin: 3, minSize: 6 },
          }),
          editorTheme(dark),
          diffTheme(dark),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, dark]);
  if (before === after) return <Text c="dimmed">{text('versions.unchanged')}</Text>;
  return <div ref={container} className="editor" />;
}

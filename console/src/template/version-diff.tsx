import './editor/editor.css';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { text } from '../texts/text.ts';
import { editorTheme } from './editor/editor-theme.ts';

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
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, dark]);
  if (before === after) return <Text c="dimmed">{text('versions.unchanged')}</Text>;
  return <div ref={container} className="editor" />;
}

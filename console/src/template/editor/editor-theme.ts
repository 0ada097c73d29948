import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { nonce } from '../../nonce.ts';

/** The editor theme in the console's colors, with a contrast of at least 4.5:1. */
export function editorTheme(dark: boolean): Extension {
  const colors = dark
    ? { tag: '#7cc7ff', name: '#9ee6a8', value: '#ffc58a', soft: '#a8b0b8', mark: '#3a3520' }
    : { tag: '#0a4f8a', name: '#1a5c2a', value: '#8a3b00', soft: '#5a626b', mark: '#fff3c4' };
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.theme(
      {
        '&': { backgroundColor: 'transparent', color: 'var(--mantine-color-text)' },
        '.cm-content': { caretColor: 'var(--mantine-color-text)' },
        '.cm-gutters': {
          backgroundColor: 'transparent',
          color: colors.soft,
          borderRight: '1px solid var(--mantine-color-default-border)',
        },
        // A name has spaces, but a line doesn't end in it.
        '.cm-field': { backgroundColor: colors.mark, borderRadius: '3px', whiteSpace: 'pre' },
        '.cm-panels': {
          backgroundColor: 'var(--mantine-color-body)',
          color: 'var(--mantine-color-text)',
          borderColor: 'var(--mantine-color-default-border)',
        },
        '.cm-search': { fontFamily: 'var(--mantine-font-family)', padding: '8px 28px 8px 8px' },
        '.cm-search label': { fontSize: '12px', marginRight: '8px' },
        '.cm-button, .cm-textfield': {
          backgroundColor: 'var(--mantine-color-default)',
          backgroundImage: 'none',
          color: 'inherit',
          border: '1px solid var(--mantine-color-default-border)',
          borderRadius: 'var(--mantine-radius-sm)',
          padding: '4px 10px',
          fontSize: '12px',
        },
        '.cm-collapsedLines': { background: 'none', color: colors.soft },
      },
      { dark },
    ),
    syntaxHighlighting(
      HighlightStyle.define([
        { tag: [tags.tagName, tags.angleBracket], color: colors.tag },
        { tag: tags.attributeName, color: colors.name },
        { tag: [tags.attributeValue, tags.string], color: colors.value },
        { tag: [tags.comment, tags.documentMeta], color: colors.soft },
      ]),
    ),
  ];
}

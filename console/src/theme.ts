import { createTheme, type MantineColorsTuple, Modal } from '@mantine/core';
import { text } from './texts/text.ts';

const signal: MantineColorsTuple = [
  '#e6f6f8',
  '#d0e9ed',
  '#a3d2da',
  '#72bac6',
  '#4aa6b5',
  '#2f98a9',
  '#1d8193',
  '#0b7285',
  '#086071',
  '#054d5b',
];

/** Darker than the library's default, for readable contrast with white. */
const red: MantineColorsTuple = [
  '#fff0ee',
  '#ffdcd8',
  '#ffb4ac',
  '#ff8a7e',
  '#f5645a',
  '#e5483d',
  '#c92a2a',
  '#b42318',
  '#9a1c13',
  '#7d150e',
];

/** Cool and deep, so state colors stand out in dark mode. */
const dark: MantineColorsTuple = [
  '#d3d9e0',
  '#b5bdc7',
  '#8f99a6',
  '#626d7a',
  '#333c47',
  '#2a323c',
  '#20272f',
  '#161b22',
  '#10141a',
  '#0b0e12',
];

export const theme = createTheme({
  primaryColor: 'signal',
  primaryShade: { light: 7, dark: 6 },
  colors: { signal, red, dark },
  autoContrast: true,
  luminanceThreshold: 0.36,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  components: {
    Modal: Modal.extend({
      defaultProps: {
        // A stray click would discard the input.
        closeOnClickOutside: false,
        closeButtonProps: { 'aria-label': text('close') },
        // The page already has a banner landmark.
        attributes: { header: { role: 'none' } },
      },
    }),
  },
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
});

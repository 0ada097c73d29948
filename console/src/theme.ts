import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from '@mantine/core';
import { brandFont, brandRadii, monospaceFont } from '../../src/host/brand/tokens.ts';
import { text } from './texts/text.ts';

/** Shades around the accent of `brandColors`, which is the shade at 7 in light and near 3 in dark mode. */

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

// By name, because importing the component would load its script with the first page.
const components: MantineThemeOverride['components'] = {
  // Opening a menu focuses its first item instead of an element that isn't an item.
  Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  // Fields next to each other stay in line, whether or not they have a hint.
  InputWrapper: {
    defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
  },
  Modal: {
    defaultProps: {
      // A stray click would discard the input.
      closeOnClickOutside: false,
      closeButtonProps: { 'aria-label': text('close') },
      // The page already has a banner landmark.
      attributes: { header: { role: 'none' } },
    },
  },
};

export const theme = createTheme({
  primaryColor: 'signal',
  primaryShade: { light: 7, dark: 6 },
  colors: { signal, red, dark },
  autoContrast: true,
  luminanceThreshold: 0.36,
  defaultRadius: 'sm',
  radius: {
    sm: `${brandRadii.control}px`,
    md: `${brandRadii.card}px`,
    lg: `${brandRadii.float}px`,
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: brandFont,
  fontFamilyMonospace: monospaceFont,
  components,
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '1rem' } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--brand-surface)',
  '--mantine-color-text': 'var(--brand-ink)',
  '--mantine-color-dimmed': 'var(--brand-soft)',
  '--mantine-color-placeholder': 'light-dark(#6b7684, #8b949e)',
  '--mantine-color-error': 'var(--brand-bad)',
  '--mantine-color-anchor': 'var(--brand-accent)',
  '--mantine-color-default-border': 'var(--brand-line)',
  '--mantine-color-default-hover': 'var(--brand-hover)',
  '--mantine-color-signal-light': 'var(--brand-accent-soft)',
  '--mantine-color-signal-light-hover':
    'color-mix(in srgb, var(--brand-accent-soft) 96%, var(--brand-accent))',
  '--mantine-color-signal-light-color': 'var(--brand-accent)',
  '--mantine-color-red-light-hover': 'var(--brand-bad-soft)',
  '--mantine-color-red-light-color': 'var(--brand-bad)',
};

/** The library's variables for what the shared style sheet defines for all pages. Its own are per scheme, so these are too. */
export const brandVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: shared,
  dark: shared,
});

/** A color in light and in dark mode. */
type ColorPair = readonly [light: string, dark: string];

/**
 * The colors of every surface: console, pages, inbox, documentation and the service's own mail. Text colors have a contrast
 * of at least 4.5 to 1 on `canvas`, `surface` and `raised` (WCAG 2.2, 1.4.3); `edge` has 3 to 1 (1.4.11).
 */
export const brandColors = {
  /** The ground behind everything. */
  canvas: ['#f5f7f8', '#0f1317'],
  /** Cards, tables and the content of the console. */
  surface: ['#ffffff', '#161b20'],
  /** What floats above a surface, such as a menu. */
  raised: ['#ffffff', '#1d232a'],
  /** What the pointer is on. */
  hover: ['#edf1f3', '#20272e'],
  line: ['#dfe5e8', '#2a323a'],
  /** The border of a control. */
  edge: ['#85919b', '#6b7783'],
  ink: ['#14202a', '#e8edf0'],
  soft: ['#566470', '#a6b2bc'],
  accent: ['#0b7285', '#6cc3d2'],
  accentHover: ['#095f6f', '#8bd2de'],
  /** The text on a ground of the accent. */
  onAccent: ['#ffffff', '#08242b'],
  /** The ground of a primary button, and the text on it. */
  button: ['#0b7285', '#1d8193'],
  buttonHover: ['#095f6f', '#177486'],
  onButton: ['#ffffff', '#ffffff'],
  accentSoft: ['#e3f3f5', '#163038'],
  bad: ['#b42318', '#ff9b92'],
  badSoft: ['#fdecea', '#3a1f1f'],
  good: ['#1b6b44', '#6fd3a2'],
  goodSoft: ['#e2f4ea', '#16301f'],
  /** Marks what was found or changed. */
  mark: ['#fff0c2', '#4b3a0a'],
} as const satisfies Readonly<Record<string, ColorPair>>;

export type BrandColor = keyof typeof brandColors;

/** The family that comes with the product, then the system's. */
export const brandFont =
  "Geist, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif";

export const monospaceFont =
  "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Corner radii in pixels: of controls, of cards, and of what floats above them. */
export const brandRadii = { control: 7, card: 12, float: 14 } as const;

const [tile] = brandColors.accent;

/** The mark: an envelope that flies from a post like a flag. */
const strokes = `<path fill="none" stroke="#fff" stroke-width="2.3" stroke-linecap="round" stroke-linejoin="round" d="M9.500 6.500v19.500M9.500 8h15v10h-15M10.200 8.700l6.800 5.100 6.800-5.100"/>`;

/** The mark as SVG, without a title: it always stands next to the name. */
export const brandMark = `<svg class="brand-mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" fill="${tile}"/>${strokes}</svg>`;

/** The icon of browser tabs. */
export const brandIcon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${tile}"/>${strokes}</svg>`;

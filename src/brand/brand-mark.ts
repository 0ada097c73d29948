import { brandColors } from './tokens.ts';

const [tile] = brandColors.accent;

/** The mark: an envelope that flies from a post like a flag. */
const strokes = `<path fill="none" stroke="#fff" stroke-width="2.3" stroke-linecap="round" stroke-linejoin="round" d="M9.500 6.500v19.500M9.500 8h15v10h-15M10.200 8.700l6.800 5.100 6.800-5.100"/>`;

/** The mark as SVG, without a title: it always stands next to the name. */
export const brandMark = `<svg class="brand-mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="8" fill="${tile}"/>${strokes}</svg>`;

/** The icon of browser tabs. */
export const brandIcon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${tile}"/>${strokes}</svg>`;

import { type Html, html } from '../../foundation/html.ts';

/** Decorative line icons on a 24-unit grid, in the color of the surrounding text. */
const paths = {
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM20 20l-4.8-4.8',
  bin: 'M4 7h16M9.5 7V4.5h5V7M6.5 7l.8 12.5h9.4L17.5 7M10.2 11v5M13.8 11v5',
  back: 'M19 12H5M11 6l-6 6 6 6',
  older: 'M9 5l7 7-7 7',
  newer: 'M15 5l-7 7 7 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  envelope: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  open: 'M13.5 4.5h6v6M19.5 4.5l-8.5 8.5M17 14v5.5H4.5V7H10',
  shield: 'M12 3l7.5 2.8V12c0 4.5-3 7.6-7.5 9.2C7.5 19.6 4.5 16.5 4.5 12V5.8z',
} as const;

/** An icon as inline SVG. */
export function icon(name: keyof typeof paths): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="${paths[name]}"/></svg>`;
}

import { brandColors, brandFont, brandRadii, monospaceFont } from '../../brand/tokens.ts';

/** The viewer switches its scheme by class, so the tokens are set for each. */
function schemeOf(index: 0 | 1): string {
  const color = (name: keyof typeof brandColors): string => brandColors[name][index];
  return `
  --scalar-background-1: ${color('surface')};
  --scalar-background-2: ${color('canvas')};
  --scalar-background-3: ${color('hover')};
  --scalar-background-accent: ${color('accentSoft')};
  --scalar-border-color: ${color('line')};
  --scalar-color-1: ${color('ink')};
  --scalar-color-2: ${color('soft')};
  --scalar-color-3: ${color('soft')};
  --scalar-color-accent: ${color('accent')};
  --scalar-button-1: ${color('button')};
  --scalar-button-1-hover: ${color('buttonHover')};
  --scalar-button-1-color: ${color('onButton')};
  --scalar-sidebar-background-1: ${color('canvas')};
  --scalar-sidebar-color-1: ${color('ink')};
  --scalar-sidebar-color-2: ${color('soft')};
  --scalar-sidebar-border-color: ${color('line')};
  --scalar-sidebar-item-hover-background: ${color('hover')};
  --scalar-sidebar-item-active-background: ${color('accentSoft')};
  --scalar-sidebar-color-active: ${color('accent')};
  --scalar-sidebar-search-background: ${color('surface')};
  --scalar-sidebar-search-color: ${color('soft')};
  --scalar-sidebar-search-border-color: ${color('line')};
  --scalar-color-green: ${color('good')};
  --scalar-color-red: ${color('bad')};`;
}

/** The look of the viewer: the shared font and colors, and no link to its vendor. */
export const viewerStyles = `
:root {
  --scalar-font: ${brandFont};
  --scalar-font-code: ${monospaceFont};
  --scalar-font-bold: 600;
  --scalar-radius: ${brandRadii.control}px;
  --scalar-radius-lg: ${brandRadii.card}px;
  --scalar-custom-header-height: 52px;
}
.light-mode {${schemeOf(0)}
  --scalar-color-blue: #0b5cad;
  --scalar-color-orange: #8f4700;
}
.dark-mode {${schemeOf(1)}
}
a[href*="//www.scalar.com"], .scalar-reference-intro-clients { display: none }
#reference .section { padding-block: 40px }
#reference .introduction-description { margin-top: 0 }
#reference .introduction-description pre { position: relative }
#reference .introduction-description pre code { padding-top: 36px; font-size: 12.5px }
.copy-code {
  position: absolute; top: 8px; right: 8px; padding: 2px 10px; font: 500 12px var(--scalar-font); cursor: pointer;
  color: var(--scalar-color-1); background: var(--scalar-background-1); border: 1px solid var(--scalar-border-color);
  border-radius: var(--scalar-radius);
}
.copy-code:hover { background: var(--scalar-background-3) }
`;

/** The bar above the viewer. */
export const barStyles = `body { margin: 0; background: var(--brand-surface); color: var(--brand-ink); font-family: var(--brand-font) }
.docs-bar {
  position: sticky; top: 0; z-index: 20; box-sizing: border-box; display: flex; align-items: center; gap: 24px; height: 52px;
  padding: 0 20px; font-size: 14px; background: var(--brand-canvas); border-bottom: 1px solid var(--brand-line);
}
.docs-bar a { color: var(--brand-soft); font-weight: 500; text-decoration: none; white-space: nowrap }
.docs-bar a:hover { color: var(--brand-ink) }
.docs-bar .docs-brand { display: flex; align-items: center; gap: 10px; margin-right: auto; font-size: 16px; font-weight: 600; letter-spacing: -.01em; color: var(--brand-ink) }
.docs-brand span { color: var(--brand-soft); font-weight: 400 }
.docs-brand svg { width: 24px; height: 24px }
`;

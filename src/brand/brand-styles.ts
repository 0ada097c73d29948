import { type BrandColor, brandColors, brandFont, brandRadii, monospaceFont } from './tokens.ts';

/** The characters in each file of the font; others come from the system's fonts. */
const latinRange =
  'U+0000-00FF,U+0152-0153,U+0160-0161,U+0178,U+017D-017E,U+2013-2014,U+2018-201A,U+201C-201E,U+2022,U+2026,U+2039-203A,U+20AC,U+2122,U+2190-2193,U+2212,U+2264-2265';
const latinExtendedRange =
  'U+0100-0151,U+0154-015F,U+0162-0177,U+0179-017C,U+017F-024F,U+1E00-1E9F';

/** The style sheet that all pages share: the font and the tokens as custom properties, and nothing else. */
export function brandStyles(fonts: {
  readonly latin: string;
  readonly latinExtended: string;
}): string {
  const colors = Object.entries(brandColors).map(
    ([name, [light, dark]]) =>
      `  ${propertyOf(name as BrandColor)}: light-dark(${light}, ${dark});`,
  );
  const radii = Object.entries(brandRadii).map(
    ([name, pixels]) => `  --brand-radius-${name}: ${pixels}px;`,
  );
  return `${fontFace(fonts.latin, latinRange)}${fontFace(fonts.latinExtended, latinExtendedRange)}:root {
  color-scheme: light dark;
${colors.join('\n')}
${radii.join('\n')}
  --brand-font: ${brandFont};
  --brand-mono: ${monospaceFont};
  --brand-shadow: 0 1px 2px light-dark(rgb(16 32 42 / 6%), rgb(0 0 0 / 40%)), 0 8px 24px -12px light-dark(rgb(16 32 42 / 18%), rgb(0 0 0 / 60%));
}
`;
}

/** The custom property of a color, such as `--brand-accent-soft`. */
function propertyOf(name: BrandColor): string {
  return `--brand-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function fontFace(url: string, range: string): string {
  return `@font-face {
  font-family: Geist;
  font-weight: 400 700;
  font-display: swap;
  src: url(${url}) format("woff2");
  unicode-range: ${range};
}
`;
}

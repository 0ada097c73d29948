import type { TemplateContent } from '../../api/management.generated.ts';

export type MarkupKind = 'mjml' | 'html';

/** A part of an email to insert. */
export interface Block {
  /** Sections are as wide as the email; other blocks are in their columns. */
  readonly isSection?: true;
  readonly mjml: string;
  readonly html: string;
  /** Settings of the fields it uses, for those that have none yet. */
  readonly fields?: NonNullable<TemplateContent['fields']>;
}

const heading: Block = {
  mjml: '<mj-text font-size="24px" font-weight="700" line-height="1.3">Heading</mj-text>',
  html: '<h1 style="margin: 0 0 16px; font-size: 24px; line-height: 1.3">Heading</h1>',
};

const paragraph: Block = {
  mjml: '<mj-text>Text</mj-text>',
  html: '<p style="margin: 0 0 16px; font-size: 16px; line-height: 1.5">Text</p>',
};

const button: Block = {
  mjml: `<mj-button href="https://example.com" background-color="#0b7285" color="#ffffff" border-radius="6px" font-size="16px">
  Button
</mj-button>`,
  html: `<table role="presentation" cellspacing="0" cellpadding="0" style="margin: 0 0 16px">
  <tr>
    <td style="border-radius: 6px; background-color: #0b7285">
      <a href="https://example.com" style="display: inline-block; padding: 12px 24px; color: #ffffff; font-weight: 600; text-decoration: none">Button</a>
    </td>
  </tr>
</table>`,
};

const divider: Block = {
  mjml: '<mj-divider border-width="1px" border-color="#d3d9e0" />',
  html: '<hr style="margin: 24px 0; border: 0; border-top: 1px solid #d3d9e0">',
};

const spacer: Block = {
  mjml: '<mj-spacer height="24px" />',
  html: '<div style="height: 24px; line-height: 24px">&nbsp;</div>',
};

const items: Block = {
  mjml: `<mj-table>
  <tr style="border-bottom: 1px solid #d3d9e0; text-align: left">
    <th style="padding: 8px 0">Item</th>
    <th style="padding: 8px 0; text-align: right">Price</th>
  </tr>
  {{#Items}}
  <tr>
    <td style="padding: 8px 0">{{Name}}</td>
    <td style="padding: 8px 0; text-align: right">{{Price}}</td>
  </tr>
  {{/Items}}
</mj-table>`,
  html: `<table style="width: 100%; margin: 0 0 16px; border-collapse: collapse; font-size: 16px">
  <tr style="border-bottom: 1px solid #d3d9e0; text-align: left">
    <th style="padding: 8px 0">Item</th>
    <th style="padding: 8px 0; text-align: right">Price</th>
  </tr>
  {{#Items}}
  <tr>
    <td style="padding: 8px 0">{{Name}}</td>
    <td style="padding: 8px 0; text-align: right">{{Price}}</td>
  </tr>
  {{/Items}}
</table>`,
  fields: {
    Items: {
      kind: 'list',
      sample: [
        { Name: 'Cup', Price: '$12.00' },
        { Name: 'Saucer', Price: '$8.00' },
      ],
    },
  },
};

const columns: Block = {
  isSection: true,
  mjml: `<mj-section background-color="#ffffff">
  <mj-column>
    <mj-text>Left</mj-text>
  </mj-column>
  <mj-column>
    <mj-text>Right</mj-text>
  </mj-column>
</mj-section>`,
  html: `<table role="presentation" cellspacing="0" cellpadding="0" style="width: 100%; margin: 0 0 16px">
  <tr>
    <td style="width: 50%; padding-right: 8px; vertical-align: top">Left</td>
    <td style="width: 50%; padding-left: 8px; vertical-align: top">Right</td>
  </tr>
</table>`,
};

const section: Block = {
  isSection: true,
  mjml: `<mj-section background-color="#ffffff">
  <mj-column>
    <mj-text>Text</mj-text>
  </mj-column>
</mj-section>`,
  html: `<div style="margin: 0 auto 16px; padding: 24px; max-width: 600px; background-color: #ffffff">
  Text
</div>`,
};

const footer: Block = {
  isSection: true,
  mjml: `<mj-section>
  <mj-column>
    <mj-text align="center" font-size="13px" color="#5a626b">
      Your company, 1 Main Street, Your city
    </mj-text>
  </mj-column>
</mj-section>`,
  html: `<p style="margin: 24px 0 0; font-size: 13px; line-height: 1.5; color: #5a626b; text-align: center">
  Your company, 1 Main Street, Your city
</p>`,
};

/** In the order of the menu. */
export const blocks = {
  heading,
  paragraph,
  button,
  divider,
  spacer,
  items,
  section,
  columns,
  footer,
} as const satisfies Readonly<Record<string, Block>>;

export type BlockName = keyof typeof blocks;

/** An image as a block. */
export function imageBlock({
  url,
  alt,
  width,
}: {
  readonly url: string;
  readonly alt: string;
  readonly width: number;
}): Block {
  const quoted = alt.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return {
    mjml: `<mj-image src="${url}" alt="${quoted}" width="${width}px" />`,
    html: `<img src="${url}" alt="${quoted}" width="${width}" style="display: block; max-width: 100%; height: auto">`,
  };
}

/** What a template starts with when its other kind of markup is used for the first time. */
export const emptyMarkup: Readonly<Record<MarkupKind, string>> = {
  mjml: `<mjml lang="en">
  <mj-body>
    <mj-section>
      <mj-column>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`,
  html: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
  </head>
  <body style="margin: 0; padding: 24px; font-family: sans-serif">
  </body>
</html>
`,
};

/** The name of an account in MJML, where neither markup nor fields may be read from it. */
export function starterMarkup(name: string): string {
  return name.replaceAll(/[&<>"{}]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The name of an account in a subject: it can't quote braces, and long subjects are cut off by mail programs. */
export function subjectOf(name: string): string {
  return [...name.replaceAll(/[{}]/g, '')].slice(0, 40).join('');
}

interface StarterLayout {
  readonly title: string;
  /** The name of the account, as in `starterMarkup`. */
  readonly company: string;
  /** Components of the card's column. */
  readonly body: string;
  /** Says why the person gets this message. */
  readonly footer: string;
}

/** The frame that all starters share: name, card and footer, for phones and dark mode too. */
export function starterLayout({ title, company, body, footer }: StarterLayout): string {
  return `<mjml lang="en" dir="ltr">
  <mj-head>
    <mj-title>${title}</mj-title>
    <mj-attributes>
      <mj-all font-family="-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" />
      <mj-text font-size="16px" line-height="1.5" color="#1d2433" padding="0" />
      <mj-section padding="0" />
      <mj-column padding="0" />
      <mj-table font-size="16px" line-height="1.5" color="#1d2433" padding="0 0 28px" />
      <mj-button align="left" background-color="#0b5c6b" color="#ffffff" font-size="16px" font-weight="600" line-height="1.25" border-radius="10px" inner-padding="14px 28px" padding="0 0 28px" />
      <mj-class name="quiet" color="#566175" font-size="14px" css-class="quiet" />
    </mj-attributes>
    <mj-raw>
      <meta name="color-scheme" content="light dark">
      <meta name="supported-color-schemes" content="light dark">
    </mj-raw>
    <mj-style>
      :root { color-scheme: light dark; supported-color-schemes: light dark; }
      .break { word-break: break-all; }
      .items td, .items th { padding: 12px 0; vertical-align: top; }
      .items th { padding: 0 0 8px; font-weight: 600; }
      .items .price { text-align: right; white-space: nowrap; padding-left: 16px; }
      .items .line { border-top: 1px solid #e3e7ee; }
      .items .total { border-top: 2px solid #1d2433; font-size: 18px; font-weight: 700; }
      @media only screen and (max-width: 479px) {
        .card { margin: 0 12px !important; }
        .card > table > tbody > tr > td { padding: 32px 24px !important; }
        .title h1 { font-size: 24px !important; }
        .button table { width: 100% !important; }
        .button a { display: block !important; }
      }
      @media (prefers-color-scheme: dark) {
        body, .page, .page > div { background-color: #0f1319 !important; }
        .card, .card > table, .card > table > tbody > tr > td { background-color: #1a2029 !important; }
        .card > table > tbody > tr > td { border-color: #2c3542 !important; }
        .ink div, .ink table, .ink td, .ink th { color: #eef1f6 !important; }
        .quiet div { color: #a9b4c4 !important; }
        .ink a, .quiet a { color: #72d3e4 !important; }
        .items .line { border-color: #2c3542 !important; }
        .items .total { border-color: #eef1f6 !important; }
        .button td, .button a { background-color: #72d3e4 !important; color: #06262d !important; }
      }
    </mj-style>
  </mj-head>
  <mj-body width="600px" background-color="#f2f4f7" css-class="page">
    <mj-section padding="32px 16px 20px">
      <mj-column>
        <mj-text css-class="ink" align="center" font-size="18px" font-weight="700">${company}</mj-text>
      </mj-column>
    </mj-section>
    <mj-wrapper css-class="card" background-color="#ffffff" border="1px solid #e3e7ee" border-radius="16px" padding="40px">
      <mj-section>
        <mj-column>
${body.replaceAll(/^(?=.)/gm, '          ')}
        </mj-column>
      </mj-section>
    </mj-wrapper>
    <mj-section padding="24px 24px 40px">
      <mj-column>
        <mj-text mj-class="quiet" align="center">${footer}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
}

/** The heading of the card. */
export function starterTitle(text: string): string {
  return `<mj-text css-class="ink title" padding="0 0 16px">
  <h1 style="margin:0;font-size:28px;line-height:1.25;font-weight:700">${text}</h1>
</mj-text>`;
}

/** A paragraph. */
export function starterText(text: string): string {
  return `<mj-text css-class="ink" padding="0 0 28px">
  ${text}
</mj-text>`;
}

export function starterButton(label: string, field: string): string {
  return `<mj-button css-class="button" href="{{${field}}}">${label}</mj-button>`;
}

/** For mail programs in which the button doesn't work. */
export function starterAddress(field: string): string {
  return `<mj-text mj-class="quiet" padding="16px 0 0">
  If the button does nothing, copy this address into your browser:<br />
  <a class="break" href="{{${field}}}" style="color:#0b5c6b">{{${field}}}</a>
</mj-text>`;
}

/** A less prominent paragraph. */
export function starterNote(text: string): string {
  return `<mj-text mj-class="quiet">
  ${text}
</mj-text>`;
}

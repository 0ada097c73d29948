import type { Locale } from '../outbox/system-mail.ts';

/** The parts of a system email; text with fields, no markup. */
export interface MailParts {
  readonly locale: Locale;
  readonly title: string;
  readonly body: string;
  readonly facts?: readonly (readonly [label: string, field: string])[] | undefined;
  readonly button: { readonly label: string; readonly field: string };
  /** Below the button. */
  readonly note: string;
  readonly unexpected: string;
  readonly pasteLink: string;
  readonly footer: string;
}

/** The MJML source of an email: one card, one button, readable in light and dark mode. */
export function layOutMail(parts: MailParts): string {
  const { locale, title, body, button, note, unexpected, pasteLink, footer } = parts;
  return `<mjml lang="${locale}" dir="ltr">
  <mj-head>
    <mj-title>${title}</mj-title>
    <mj-attributes>
      <mj-all font-family="-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" />
      <mj-text font-size="16px" line-height="1.5" color="#1d2433" padding="0" />
      <mj-section padding="0" />
      <mj-column padding="0" />
    </mj-attributes>
    <mj-raw>
      <meta name="color-scheme" content="light dark">
      <meta name="supported-color-schemes" content="light dark">
    </mj-raw>
    <mj-style>
      :root { color-scheme: light dark; supported-color-schemes: light dark; }
      .address a { word-break: break-all; }
      @media only screen and (max-width: 479px) {
        .card { margin: 0 12px !important; }
        .card > table > tbody > tr > td { padding: 32px 24px !important; }
        .button-wide table { width: 100% !important; }
        .button-wide a { display: block !important; }
      }
      @media (prefers-color-scheme: dark) {
        body, .page, .page > div { background-color: #0f1319 !important; }
        .card, .card > table, .card > table > tbody > tr > td { background-color: #1a2029 !important; }
        .card > table > tbody > tr > td { border-color: #2c3542 !important; }
        .rule p { border-color: #2c3542 !important; }
        .ink div, .ink td, .ink h1 { color: #eef1f6 !important; }
        .quiet div { color: #a9b4c4 !important; }
        .quiet a { color: #8fb8ff !important; }
        .button-wide td, .button-wide a { background-color: #8fb8ff !important; color: #0c1a33 !important; }
      }
    </mj-style>
  </mj-head>
  <mj-body width="600px" background-color="#f2f4f7" css-class="page">
    <mj-section padding="32px 16px 20px">
      <mj-column>
        <mj-text css-class="ink" align="center" font-size="18px" font-weight="700">Signalpost</mj-text>
      </mj-column>
    </mj-section>
    <mj-wrapper css-class="card" background-color="#ffffff" border="1px solid #e3e7ee" border-radius="16px" padding="40px">
      <mj-section>
        <mj-column>
          <mj-text css-class="ink">
            <h1 style="margin:0;font-size:26px;line-height:1.25;font-weight:700">${title}</h1>
          </mj-text>
          <mj-text css-class="ink" padding="16px 0 24px">${body}</mj-text>
${factTable(parts.facts)}          <mj-button css-class="button-wide" align="left" href="{{${button.field}}}" background-color="#1f4fbf" color="#ffffff" font-size="16px" font-weight="600" line-height="1.25" border-radius="10px" inner-padding="14px 28px" padding="0 0 24px">${button.label}</mj-button>
          <mj-text css-class="ink">${note}</mj-text>
          <mj-divider css-class="rule" border-width="1px" border-color="#e3e7ee" padding="24px 0" />
          <mj-text css-class="quiet" color="#566175" font-size="14px">${unexpected}</mj-text>
          <mj-text css-class="quiet address" color="#566175" font-size="14px" padding="16px 0 0">
            ${pasteLink}<br />
            <a href="{{${button.field}}}" style="color:#1f4fbf;word-break:break-all">{{${button.field}}}</a>
          </mj-text>
        </mj-column>
      </mj-section>
    </mj-wrapper>
    <mj-section padding="24px 24px 40px">
      <mj-column>
        <mj-text css-class="quiet" align="center" color="#566175" font-size="14px">${footer}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
}

function factTable(facts: MailParts['facts'] = []): string {
  if (facts.length === 0) return '';
  const rows = facts.map(
    ([label, field]) =>
      `            <tr><td style="padding:2px 16px 2px 0;font-weight:600;vertical-align:top">${label}</td><td style="padding:2px 0;word-break:break-word">{{${field}}}</td></tr>`,
  );
  return `          <mj-table css-class="ink" color="#1d2433" font-size="16px" line-height="1.5" padding="0 0 24px">
${rows.join('\n')}
          </mj-table>
`;
}

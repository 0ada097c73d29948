import type { Locale, SystemMailKind } from '../../accounts/notices/system-mail.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';
import { brandColors, brandRadii } from '../../host/brand/tokens.ts';
import { endSessionsField, linkField, mailFields } from './mail-fields.ts';
import type { LinkMailText } from './texts/mail.en.ts';
import { textsOf } from './texts/texts-of.ts';

/** The parts of a system email; text with fields, no markup. */
interface MailParts extends Omit<LinkMailText, 'subject'> {
  /** The field with the address of the button. */
  readonly buttonField: string;
  /** Under `unexpected`, if its field has a value. */
  readonly escape?: { readonly label: string; readonly field: string };
}

const [canvas, darkCanvas] = brandColors.canvas;
const [surface, darkSurface] = brandColors.surface;
const [line, darkLine] = brandColors.line;
const [ink, darkInk] = brandColors.ink;
const [soft, darkSoft] = brandColors.soft;
const [accent, darkAccent] = brandColors.accent;
const [primary, darkPrimary] = brandColors.button;

/** The MJML source of an email: one card, one button, readable in light and dark mode. */
function layOutMail(locale: Locale, parts: MailParts): string {
  const { title, body, button, buttonField, limit, unexpected } = parts;
  const { pasteLink, footer } = textsOf[locale];
  return `<mjml lang="${locale}" dir="ltr">
  <mj-head>
    <mj-title>${title}</mj-title>
    <mj-attributes>
      <mj-all font-family="Geist, -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" />
      <mj-text font-size="16px" line-height="1.5" color="${ink}" padding="0" />
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
        body, .page, .page > div { background-color: ${darkCanvas} !important; }
        .card, .card > table, .card > table > tbody > tr > td { background-color: ${darkSurface} !important; }
        .card > table > tbody > tr > td { border-color: ${darkLine} !important; }
        .rule p { border-color: ${darkLine} !important; }
        .ink div, .ink td, .ink h1 { color: ${darkInk} !important; }
        .quiet div { color: ${darkSoft} !important; }
        .quiet a { color: ${darkAccent} !important; }
        .button-wide td, .button-wide a { background-color: ${darkPrimary} !important; color: #ffffff !important; }
      }
    </mj-style>
  </mj-head>
  <mj-body width="600px" background-color="${canvas}" css-class="page">
    <mj-section padding="32px 16px 20px">
      <mj-column>
        <mj-text css-class="ink" align="center" font-size="18px" font-weight="600"><span class="tile" style="display:inline-block;width:14px;height:14px;margin-right:8px;border-radius:4px;vertical-align:-1px;background:${primary}"></span>Signalpost</mj-text>
      </mj-column>
    </mj-section>
    <mj-wrapper css-class="card" background-color="${surface}" border="1px solid ${line}" border-radius="${brandRadii.float}px" padding="40px">
      <mj-section>
        <mj-column>
          <mj-text css-class="ink">
            <h1 style="margin:0;font-size:26px;line-height:1.25;font-weight:600;letter-spacing:-0.015em">${title}</h1>
          </mj-text>
          <mj-text css-class="ink" padding="16px 0 24px">${body}</mj-text>
${factTable(parts.facts)}          <mj-button css-class="button-wide" align="left" href="{{${buttonField}}}" background-color="${primary}" color="#ffffff" font-size="16px" font-weight="600" line-height="1.25" border-radius="${brandRadii.control}px" inner-padding="14px 28px" padding="0 0 24px">${button}</mj-button>
          <mj-text css-class="ink">${limit}</mj-text>
          <mj-divider css-class="rule" border-width="1px" border-color="${line}" padding="24px 0" />
          <mj-text css-class="quiet" color="${soft}" font-size="14px">${unexpected}${escapeLink(parts.escape)}</mj-text>
          <mj-text css-class="quiet address" color="${soft}" font-size="14px" padding="16px 0 0">
            ${pasteLink}<br />
            <a href="{{${buttonField}}}" style="color:${accent};word-break:break-all">{{${buttonField}}}</a>
          </mj-text>
        </mj-column>
      </mj-section>
    </mj-wrapper>
    <mj-section padding="24px 24px 40px">
      <mj-column>
        <mj-text css-class="quiet" align="center" color="${soft}" font-size="14px">${footer}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
}

function escapeLink(link: MailParts['escape']): string {
  if (link === undefined) return '';
  const { label, field } = link;
  return `{{#${field}}}<br /><a href="{{${field}}}" style="color:${accent}">${label}</a>{{/${field}}}`;
}

function factTable(facts: MailParts['facts'] = []): string {
  if (facts.length === 0) return '';
  const rows = facts.map(
    ([label, field]) =>
      `            <tr><td style="padding:2px 16px 2px 0;font-weight:600;vertical-align:top">${label}</td><td style="padding:2px 0;word-break:break-word">{{${field}}}</td></tr>`,
  );
  return `          <mj-table css-class="ink" color="${ink}" font-size="16px" line-height="1.5" padding="0 0 24px">
${rows.join('\n')}
          </mj-table>
`;
}

/** The built-in template for a kind of email in a language. */
export function builtInTemplate(kind: SystemMailKind, locale: Locale): TemplateSource {
  const texts = textsOf[locale];
  const { subject, ...parts } = {
    'password-link': { ...texts.passwordLink, buttonField: linkField },
    invitation: { ...texts.invitation, buttonField: linkField },
    'sender-confirmation': { ...texts.senderConfirmation, buttonField: linkField },
    'security-notice': {
      subject: '{{Subject}}',
      title: '{{Subject}}',
      body: '<span style="white-space:pre-line">{{What Happened}}</span>',
      button: texts.noticeButton,
      buttonField: 'Sign-In Page',
      limit: texts.noticeTime,
      unexpected: texts.noticeUnexpected,
      escape: { label: texts.noticeEscape, field: endSessionsField },
    },
  }[kind];
  const mjml = layOutMail(locale, parts);
  return { subject, previewText: parts.limit, mjml, fields: mailFields[kind] };
}

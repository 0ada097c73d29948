import type { TemplateContent } from '../../api/management.generated.ts';

const mjml = `<mjml>
  <mj-head>
    <mj-attributes>
      <mj-all font-family="system-ui, Segoe UI, Roboto, sans-serif" />
      <mj-text font-size="16px" line-height="1.5" />
    </mj-attributes>
  </mj-head>
  <mj-body background-color="#f4f5f7">
    <mj-section background-color="#ffffff" border-radius="8px">
      <mj-column>
        <mj-text font-size="22px">Hello {{First Name}},</mj-text>
        <mj-text>This is the beginning of your message.</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;

/**
 * The initial content of a template.
 * @param sender a verified sender; undefined if there is none yet
 */
export function starterContent(name: string, sender: string | undefined): TemplateContent {
  return { sender, subject: name, mjml, fields: { 'First Name': { sample: 'Ada' } } };
}

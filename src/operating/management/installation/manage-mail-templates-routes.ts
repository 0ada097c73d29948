import { type Static, Type } from 'typebox';
import {
  type SystemMailKind,
  systemAccountId,
  systemMailKinds,
} from '../../../accounts/notices/system-mail.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { Flag, NamedObject, StrictObject } from '../../../base/values/common-schemas.ts';
import { removeTemplate } from '../../../content/template/template-store.ts';
import { builtInTemplate } from '../../../sending/system-mail/built-in-templates.ts';
import { mailFields } from '../../../sending/system-mail/mail-fields.ts';
import {
  compileReplacement,
  publishReplacement,
  replacementId,
} from '../../../sending/system-mail/publish-template.ts';
import { readPublishedSource } from '../../../sending/system-mail/system-template-store.ts';
import { defineList } from '../answer/list-operations.ts';
import { invalidFields } from '../answer/problem.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { TemplateContentSchema } from '../template/template-views.ts';

const { subject, previewText, html, mjml, text } = TemplateContentSchema.properties;
const content = { subject, previewText, html, mjml, text };

const MailTemplateView = NamedObject('MailTemplate', {
  kind: Type.Enum([...systemMailKinds]),
  replaced: Flag('Whether an operator has replaced the built-in text.'),
  ...content,
  fields: Type.Array(
    StrictObject({
      name: Type.String(),
      description: Type.Optional(Type.String()),
      secret: Flag('Shown only in the mail itself.'),
    }),
    { description: 'Fields the text can use.' },
  ),
});

async function readView(
  kysely: DatabaseTransaction,
  kind: SystemMailKind,
): Promise<Static<typeof MailTemplateView>> {
  const replacement = await readPublishedSource(kysely, replacementId(kind));
  const { fields: _, ...source } = replacement?.source ?? builtInTemplate(kind, 'en');
  const fields = Object.entries(mailFields[kind]).map(
    ([name, { description, secret = false }]) => ({
      name,
      ...(description === undefined ? {} : { description }),
      secret,
    }),
  );
  return { kind, replaced: replacement !== undefined, ...source, fields };
}

const replacementOf = resourceOf({
  kind: 'mail_template',
  unrecorded: ['html', 'mjml', 'text'],
  id: 'mailKind',
  async read(transaction, { params }) {
    const view = await readView(transaction, params.mailKind);
    return view.replaced ? view : undefined;
  },
});

export const listMailTemplates = defineList({
  id: 'listMailTemplates',
  summary: 'List system mail templates',
  description: 'The templates in use. Built-in ones are shown in English.',
  item: MailTemplateView,
  read: ({ kysely }) => Promise.all(systemMailKinds.map((kind) => readView(kysely, kind))),
});

export const mailTemplateRoutes = resourceRoutes({
  path: '/installation/mail-templates/:mailKind',
  access: { read: 'operate', write: 'operate' },
  view: MailTemplateView,
  resource: replacementOf,
  get: {
    id: 'getMailTemplate',
    summary: 'Get a replaced system mail template',
    description: 'Returns 404 while the built-in text is in use. The list includes built-in texts.',
  },
  put: {
    id: 'putMailTemplate',
    summary: 'Replace a system mail template',
    description:
      'Replaces the built-in text in every language. Mail with a link must use the field `Link` in both HTML and text; the link stays secret and is never tracked. If omitted, the preview text is empty and the text part is generated from the HTML.',
    body: StrictObject(content),
    async write(call) {
      const { mailKind } = call.params;
      const result = await compileReplacement(mailKind, call.body);
      if (!('errors' in result))
        return (transaction) =>
          publishReplacement(transaction, mailKind, result.source, result.compiled);
      throw invalidFields(result.errors);
    },
  },
  remove: {
    id: 'deleteMailTemplate',
    summary: 'Restore a built-in system mail template',
    write: (call) => (transaction) =>
      removeTemplate(transaction, systemAccountId, replacementId(call.params.mailKind)),
  },
});

import { parseTemplateId } from '../../base/values/ids.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
} from '../../content/template/template-page-store.ts';
import type { DropInRequest } from './drop-in.ts';
import { findTemplate } from './send-messages.ts';

/** A template by a provider's ID or alias, and its published version; undefined if there is none. */
export async function readTemplate(request: DropInRequest, text = '') {
  const { services, admission } = request;
  const { kysely } = services.database;
  const id = parseTemplateId(await findTemplate(request, text));
  const [facts] =
    id === undefined ? [] : await readTemplateFacts(kysely, admission.account.id, { id });
  if (facts === undefined) return undefined;
  const published = await readTemplateVersion(kysely, admission.account.id, facts.id, 'published');
  return { facts, published };
}

import { readMembers } from '../../accounts/account/membership-store.ts';
import { readEmails } from '../../accounts/account/person-store.ts';
import { readSenders } from '../../accounts/sender/sender-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import { storeContents } from '../../content/message/attachment-store.ts';
import {
  publishVersion,
  readTemplates,
  removeTemplate,
  saveTemplate,
  type TemplateRow,
} from '../../content/template/template-store.ts';
import { buildTemplate } from './build-template.ts';
import { resolveCompiledContent } from './compiled-contents.ts';
import type { ManifestTemplate } from './manifest.ts';
import type { AccountPlanContext, Plan, PlannedChange } from './manifest-change.ts';
import type { Section } from './manifest-resource.ts';
import type { RawTemplate } from './manifest-schema.ts';
import type { PlannedPeople } from './user-section.ts';

/** Users and senders that templates can refer to once the manifest is applied. */
interface TemplateReferences {
  readonly members: ReadonlyMap<string, PersonId>;
  readonly senders: ReadonlySet<string>;
  readonly removed: readonly PlannedChange[];
}

/** @param planned the changes of users and senders */
export async function readReferences(
  transaction: DatabaseTransaction,
  accountId: AccountId,
  planned: readonly PlannedChange[] = [],
  people: PlannedPeople = new Map(),
): Promise<TemplateReferences> {
  const existing = await readMembers(transaction, accountId);
  const members = new Map(existing.map(({ email, personId }) => [email, personId]));
  const senders = new Set(
    (await readSenders(transaction, accountId)).map(({ address }) => address),
  );
  const removed = planned.filter(({ action }) => action === 'removed');
  for (const { kind, id } of planned) {
    const person = people.get(id);
    if (kind === 'user' && person !== undefined) members.set(id, person.id);
    if (kind === 'sender') senders.add(id);
  }
  for (const { kind, id } of removed) {
    if (kind === 'user') members.delete(id);
    if (kind === 'sender') senders.delete(id);
  }
  return { members, senders, removed };
}

/** A stored template with the address of its creator, who may have left the account. */
interface StoredTemplate extends TemplateRow {
  readonly creator: string | undefined;
}

/** The templates of an account. */
export function templateSection(
  references: TemplateReferences,
): Section<RawTemplate, ManifestTemplate, StoredTemplate> {
  return {
    kind: 'template',
    name: 'templates',
    key: 'id',
    build: buildTemplate,
    async read(transaction, accountId) {
      const rows = await readTemplates(transaction, accountId);
      const creators = rows.map(({ createdBy }) => createdBy);
      const emails = await readEmails(transaction, creators);
      return rows.map((row) => ({ ...row, creator: emails.get(row.createdBy) }));
    },
    plan(template, before, context) {
      const createdBy = checkReferences(template, before, references, context);
      return planTemplate(template, before, createdBy, context);
    },
    // A manifest can't contain a template that was never published.
    canName: ({ removed, contentHash }) => !removed && contentHash !== null,
    remove: (transaction, accountId, { id }) => removeTemplate(transaction, accountId, id),
  };
}

/** Whether the published version of a template has this content. */
export function hasContent(
  before: TemplateRow | undefined,
  { contentHash }: ManifestTemplate,
): boolean {
  return before?.contentHash?.equals(contentHash) === true;
}

/**
 * The creator and sender must exist, because they determine the default From. Those that a template already has can have left
 * earlier, which doesn't lock the template.
 */
function checkReferences(
  template: ManifestTemplate,
  before: StoredTemplate | undefined,
  { members, senders, removed }: TemplateReferences,
  { problems }: AccountPlanContext,
): PersonId | undefined {
  const { path, sender, createdBy: email } = template;
  const leaves = (kind: string, address: string) =>
    removed.some((change) => change.kind === kind && change.id === address);
  const keepsSender = (address: string) =>
    hasContent(before, template) && !leaves('sender', address);
  if (sender !== undefined && !senders.has(sender) && !keepsSender(sender))
    problems.add([...path, 'sender'], 'must be a sender of the account');
  const keepsCreator = before?.creator === email && !leaves('user', email);
  const createdBy = members.get(email) ?? (keepsCreator ? before.createdBy : undefined);
  if (createdBy === undefined)
    problems.add([...path, 'createdBy'], 'must be a user of the account');
  return createdBy;
}

function planTemplate(
  template: ManifestTemplate,
  before: StoredTemplate | undefined,
  createdBy: PersonId | undefined,
  { transaction, accountId, contents, problems }: AccountPlanContext,
): Plan | undefined {
  const sameContent = hasContent(before, template);
  const fresh = sameContent ? undefined : resolveCompiledContent(template, contents, problems);
  if (createdBy === undefined || (fresh === undefined && !sameContent)) return undefined;
  const sameSettings =
    before !== undefined &&
    !before.removed &&
    before.name === template.name &&
    before.createdBy === createdBy &&
    (template.whenUncertain ?? before.whenUncertain) === before.whenUncertain;
  if (sameContent && sameSettings) return { action: 'unchanged', notes: [] };
  const isNew = before === undefined || before.removed;
  const number = (before?.latestVersion ?? 0) + 1;
  return {
    action: isNew ? 'created' : 'changed',
    notes: fresh === undefined ? [] : [`version ${number}`, ...fresh.warnings],
    run: async () => {
      const { id, name } = template;
      const whenUncertain = template.whenUncertain ?? (isNew ? 'resend' : undefined);
      await saveTemplate(transaction, { accountId, id, name, createdBy, whenUncertain });
      if (fresh === undefined) return;
      await storeContents(transaction, accountId, template.imageContents);
      await publishVersion(transaction, {
        accountId,
        templateId: id,
        contentHash: template.contentHash,
        senderAddress: template.sender,
        freshnessSeconds: template.freshnessSeconds,
        source: template.source,
        compiled: fresh.compiled,
      });
    },
  };
}

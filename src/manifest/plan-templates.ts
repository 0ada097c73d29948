import { readEmails } from '../account/person-store.ts';
import type { PersonId } from '../foundation/ids.ts';
import { storeContents } from '../message/attachment-store.ts';
import {
  publishVersion,
  readTemplates,
  removeTemplate,
  saveTemplate,
  type TemplateRow,
} from '../template/template-store.ts';
import { NotCompiled, resolveCompiledContent } from './compiled-contents.ts';
import type { ManifestAccount, ManifestTemplate } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';
import type { ResultingMembers } from './plan-users.ts';

/** Users and senders that templates can refer to once the manifest is applied. */
interface TemplateReferences {
  readonly members: ResultingMembers;
  readonly senders: ReadonlySet<string>;
  /** The changes of users and senders. */
  readonly changes: readonly PlannedChange[];
}

/** @throws NotCompiled with every template whose new content isn't compiled yet */
export async function requireCompiled(
  accounts: readonly ManifestAccount[],
  { transaction, contents }: PlanContext,
): Promise<void> {
  const missing: ManifestTemplate[] = [];
  for (const { id, templates } of accounts) {
    const uncompiled = templates.filter((template) => !contents.has(template));
    if (uncompiled.length === 0) continue;
    const existing = await readTemplates(transaction, id);
    const isNew = (template: ManifestTemplate) =>
      !hasContent(
        existing.find((row) => row.id === template.id),
        template,
      );
    missing.push(...uncompiled.filter(isNew));
  }
  if (missing.length > 0) throw new NotCompiled(missing);
}

function hasContent(before: TemplateRow | undefined, { contentHash }: ManifestTemplate): boolean {
  return before?.contentHash?.equals(contentHash) === true;
}

/** Plans the changes of an account's templates. */
export async function planTemplates(
  account: ManifestAccount,
  references: TemplateReferences,
  context: PlanContext,
): Promise<PlannedChange[]> {
  const existing = await readTemplates(context.transaction, account.id);
  const creators = await readEmails(
    context.transaction,
    existing.map(({ createdBy }) => createdBy),
  );
  const changes: PlannedChange[] = [];
  for (const template of account.templates) {
    const before = existing.find(({ id }) => id === template.id);
    const createdBy = checkReferences({ template, before, creators }, references, context);
    const change = planTemplate({ account, template, before, createdBy }, context);
    if (change !== undefined) changes.push(change);
  }
  // A manifest can't contain a template that was never published.
  const inUse = existing.filter(
    ({ removed, contentHash }) => !removed && contentHash !== null,
  );
  const named = new Set(account.templates.map(({ id }) => id));
  for (const { id } of toRemove(context, account, 'templates', inUse, ({ id }) => named.has(id))) {
    changes.push({
      account: account.id,
      kind: 'template',
      id,
      action: 'removed',
      path: undefined,
      notes: [],
      run: () => removeTemplate(context.transaction, account.id, id),
    });
  }
  return changes;
}

interface CheckedTemplate {
  readonly template: ManifestTemplate;
  readonly before: TemplateRow | undefined;
  /** The addresses of the creators of the account's templates. */
  readonly creators: ReadonlyMap<PersonId, string>;
}

/**
 * The creator and sender must exist, because they determine the default From. Those that a template already has can have left
 * earlier, which doesn't lock the template.
 */
function checkReferences(
  { template, before, creators }: CheckedTemplate,
  { members, senders, changes }: TemplateReferences,
  { problems }: PlanContext,
): PersonId | undefined {
  const { path, sender } = template;
  const leaves = (kind: string, address: string) =>
    changes.some(
      (change) => change.kind === kind && change.id === address && change.action === 'removed',
    );
  const keepsSender = (address: string) =>
    hasContent(before, template) && !leaves('sender', address);
  if (sender !== undefined && !senders.has(sender) && !keepsSender(sender))
    problems.add([...path, 'sender'], 'must be a sender of the account');
  const keepsCreator =
    before !== undefined &&
    creators.get(before.createdBy) === template.createdBy &&
    !leaves('user', template.createdBy);
  const createdBy =
    members.get(template.createdBy) ?? (keepsCreator ? before.createdBy : undefined);
  if (createdBy === undefined)
    problems.add([...path, 'createdBy'], 'must be a user of the account');
  return createdBy;
}

interface TemplatePlanInput {
  readonly account: ManifestAccount;
  readonly template: ManifestTemplate;
  readonly before: TemplateRow | undefined;
  readonly createdBy: PersonId | undefined;
}

function planTemplate(
  { account, template, before, createdBy }: TemplatePlanInput,
  context: PlanContext,
): PlannedChange | undefined {
  const { transaction, contents, problems } = context;
  const accountId = account.id;
  const named = {
    account: accountId,
    kind: 'template',
    id: template.id,
    path: template.path,
  } as const;
  const sameContent = hasContent(before, template);
  const fresh = sameContent ? undefined : resolveCompiledContent(template, contents, problems);
  if (createdBy === undefined || (fresh === undefined && !sameContent)) return undefined;
  const sameSettings =
    before !== undefined &&
    !before.removed &&
    before.name === template.name &&
    before.createdBy === createdBy &&
    (template.whenUncertain ?? before.whenUncertain) === before.whenUncertain;
  if (sameContent && sameSettings) return { ...named, action: 'unchanged', notes: [] };
  const isNew = before === undefined || before.removed;
  const number = (before?.latestVersion ?? 0) + 1;
  return {
    ...named,
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

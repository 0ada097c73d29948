import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { readSender } from '../../../accounts/sender/sender-store.ts';
import { NamedObject, StrictObject, Text, Uuid } from '../../../base/values/common-schemas.ts';
import {
  comparableAddress,
  type EmailAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import { type AccountId, type ClientId, newMessageId } from '../../../base/values/ids.ts';
import { contentHashes } from '../../../content/message/attachment.ts';
import {
  type CompiledTemplate,
  type CompiledVersion,
  currentFormat,
} from '../../../content/template/compiled-template.ts';
import type { GivenValues } from '../../../content/template/field-value.ts';
import { localizeVersion, matchVariant } from '../../../content/template/locale.ts';
import { computeSizeBounds, findOversizedPart } from '../../../content/template/size-bounds.ts';
import {
  type CompileResult,
  compileTemplate,
} from '../../../content/template/template-compiler.ts';
import { MAX_RENDERED_TEXT } from '../../../content/template/template-limits.ts';
import { keepVersionWithContent, writeVersion } from '../../../content/template/template-store.ts';
import {
  admissionOf,
  retentionDaysOf,
  type SendingCaller,
} from '../../../sending/submission/admit-caller.ts';
import { findSender } from '../../../sending/submission/check-sender.ts';
import { conflict, forbidden, invalidField, type Problem } from '../answer/problem.ts';
import { readOptionalLocale } from '../answer/read-query.ts';
import { acceptManually } from '../message/accept-manually.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { inTransaction } from '../save-resource.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { chooseVersion, LocaleChoice, Values } from './preview-template-routes.ts';
import { findValueProblems, requireSendableValues, sampleValues } from './sample-values.ts';
import type { VersionContent } from './template-views.ts';

/** Tag of test messages in reports. */
const testTag = 'test-send';
const lifetimeSeconds = 3_600;

export const testSendTemplate = defineOperation({
  id: 'testSendTemplate',
  summary: 'Send a test message',
  description:
    'Sends the given `version`, or else the draft or the published version, like any other message. Fields without a value use their sample, default or name.',
  body: StrictObject({
    to: Text('Recipient address.', { examples: ['ada@customer.example'], maxLength: 320 }),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    values: Type.Optional(Values),
    locale: LocaleChoice,
  }),
  answer: NamedObject('TestSent', { messageId: Uuid }),
  status: 202,
  limited: true,
  async handle(call) {
    requireSendableValues(call.body.values);
    const locale = readOptionalLocale(call.body.locale);
    // A test message shows the template to whoever it is sent to.
    const granted = await call.requirePermission('templates:read');
    const account = accountOf(call);
    const admission = admissionOf(actorOf(call), account, granted);
    if (!admission.mayUse(call.params.templateId))
      throw forbidden('The API key is limited to other templates');
    const template = await requireTemplate(call);
    const to = parseEmailAddress(call.body.to);
    if (!to.ok) throw invalidField('to', to.reason);
    const published = template.hasDraft ? undefined : (template.publishedVersion ?? undefined);
    const chosen = call.body.version ?? published;
    const { content, format } = await chooseVersion(call, undefined, chosen);
    const result = await compileTemplate({ ...content }, account.id, format);
    if (result.compiled === null) throw hasErrors(result);
    const { compiled } = result;
    requireFittingValues(compiled, call.body.values);
    const values = sampleValues(result, content, call.body.values);
    requireSize(localizeVersion(compiled, locale), values);
    await keepImages(call, content);
    const from = await chooseSender(call, admission, content.sender ?? template.createdBy);
    const id = newMessageId();
    const version = chosen ?? (await storeTrialVersion(call, content, compiled));
    const retentionDays = retentionDaysOf(admission);
    const sealed = call.dependencies.guardedLinks.seal(
      { accountId: account.id, messageId: id, retentionDays },
      compiled.guards ?? {},
      [locale, compiled.locale],
      values,
    );
    const event = { kind: 'template_test_sent', id: call.params.templateId };
    await acceptManually(call, event, {
      accountId: account.id,
      id,
      retentionDays,
      templateId: call.params.templateId,
      templateVersion: version,
      transactional: false,
      trackOpens: false,
      trackClicks: false,
      deliverWhenDelayed: true,
      newUsage: !admission.isTest,
      externalId: undefined,
      tag: testTag,
      clientId: 'console' as ClientId,
      lifetimeSeconds,
      recipients: [to.address],
      suppressed: [],
      content: JSON.stringify({
        to: to.address,
        from,
        locale,
        variant: matchVariant(compiled, locale),
        ...sealed,
      }),
      key: undefined,
    });
    return { messageId: id };
  },
});

function hasErrors({ problems }: CompileResult): Problem {
  const { variant } = problems.find(({ severity }) => severity === 'error') ?? {};
  const what = variant === undefined ? 'The template' : `The variant ${variant}`;
  return conflict(`${what} has errors. Check its preview`);
}

/** Enforces what fields are declared to be, as the send operation does. */
function requireFittingValues(compiled: CompiledTemplate, values: GivenValues = {}): void {
  const [problem] = findValueProblems(compiled, values);
  if (problem !== undefined) throw invalidField(`values.${problem.place}`, problem.reason);
}

/** Enforces the same limit as the send operation. */
function requireSize(compiled: CompiledTemplate, values: GivenValues): void {
  const found = findOversizedPart(
    compiled,
    computeSizeBounds(compiled),
    values,
    Number.MAX_SAFE_INTEGER,
  );
  if (found === undefined) return;
  throw invalidField(
    `values.${found.field ?? ''}`,
    found.structured
      ? `makes the ${found.part} larger than ${MAX_RENDERED_TEXT}`
      : `makes the ${found.part} larger than ${MAX_RENDERED_TEXT}: the template uses it ${found.uses} times`,
  );
}

/** So that a draft that changes now doesn't lose the images of its test message. */
async function keepImages(call: OperationCall, { images }: VersionContent): Promise<void> {
  if (images === undefined) return;
  const { attachments } = call.dependencies;
  if (await attachments.keep(call.params.accountId, contentHashes(images))) return;
  throw conflict('The draft has just changed. Retry');
}

async function chooseSender(call: OperationCall, caller: SendingCaller, text: string) {
  const senders = {
    sender: (accountId: AccountId, address: string) => readSender(call.kysely, accountId, address),
  };
  const sender = await findSender(
    senders,
    caller,
    comparableAddress(text) as string as EmailAddress,
  );
  if (sender?.verified !== true)
    throw conflict(
      `${text} isn’t a verified sender of this account. Verify it under Senders, or choose another sender`,
    );
  const name = sender.displayNames.find((displayName) => displayName !== '*');
  return { address: sender.address, ...(name === undefined ? {} : { name }) };
}

/** Messages are rendered from versions, so a tested draft is stored as a hidden one. */
async function storeTrialVersion(
  call: OperationCall,
  content: VersionContent,
  compiled: CompiledVersion,
): Promise<number> {
  const { id: accountId, retentionDays } = accountOf(call);
  const { templateId } = call.params;
  const { sender, freshnessMinutes = 15, ...source } = content;
  const contentHash = createHash('sha256')
    .update(JSON.stringify([currentFormat, content]))
    .digest();
  return inTransaction(call, async (transaction) => {
    const existing = await keepVersionWithContent(
      transaction,
      { accountId, templateId },
      contentHash,
      retentionDays,
    );
    if (existing !== undefined) return existing;
    const version = {
      accountId,
      templateId,
      contentHash,
      senderAddress: sender === undefined ? undefined : comparableAddress(sender),
      freshnessSeconds: freshnessMinutes * 60,
      source,
      compiled,
    };
    return writeVersion(transaction, version, retentionDays);
  });
}

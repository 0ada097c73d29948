import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { parseEmailAddress } from '../../foundation/email-address.ts';
import { type ClientId, newMessageId } from '../../foundation/ids.ts';
import { readSender } from '../../sender/sender-store.ts';
import { compileTemplate } from '../../template/compile-template.ts';
import { writeVersion } from '../../template/template-store.ts';
import { invalid, Problem } from '../answer/problem.ts';
import { FieldValues, strict, Uuid } from '../answer/schema-parts.ts';
import { inTransaction } from '../change-resource.ts';
import { accountOf, type Call, endpoint } from '../endpoint.ts';
import { acceptByHand } from '../message/accept-by-hand.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { chosenContent, sampleValues } from './preview-template-routes.ts';
import { findVersionByContent } from './template-page-store.ts';
import type { Content } from './template-views.ts';

/** Groups the reports of test messages. */
const testTag = 'test-send';
const lifetime = 3_600;

export const testSendTemplate = endpoint({
  id: 'testSendTemplate',
  summary: 'Send a template to one address, to look at it there',
  description:
    'Of a version, else of the draft, else of what is published. It goes the way of every message; fields without a value take their sample, default or name.',
  body: Type.Object(
    {
      to: Type.String({ description: 'Who gets it.', maxLength: 320 }),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
      values: Type.Optional(FieldValues()),
    },
    strict,
  ),
  answer: Type.Object({ messageId: Uuid }, { ...strict, title: 'TestSent' }),
  status: 202,
  limited: true,
  async handle(call) {
    const account = accountOf(call);
    if (account.suspended) throw new Problem('conflict', 'The account is suspended');
    const template = await requireTemplate(call);
    const to = parseEmailAddress(call.body.to);
    if (!to.ok) throw invalid('to', to.reason);
    const published = template.hasDraft ? undefined : (template.publishedVersion ?? undefined);
    const chosen = call.body.version ?? published;
    const content = await chosenContent(call, undefined, chosen);
    const result = await compileTemplate({ ...content });
    if (result.compiled === null)
      throw new Problem('conflict', 'The template has errors; look at its preview');
    const { compiled } = result;
    const from = await chooseSender(call, content.sender ?? template.createdBy);
    const id = newMessageId();
    const version = chosen ?? (await keepTrial(call, content, compiled));
    const event = { kind: 'template_test_sent', id: call.params.templateId };
    await acceptByHand(call, event, {
      accountId: account.id,
      id,
      retentionDays: account.retentionDays,
      templateId: call.params.templateId,
      templateVersion: version,
      transactional: false,
      trackOpens: false,
      trackClicks: false,
      deliverWhenDelayed: true,
      newCall: true,
      externalId: undefined,
      tag: testTag,
      clientId: 'console' as ClientId,
      lifetime,
      recipients: [to.address],
      suppressed: [],
      content: JSON.stringify({
        to: to.address,
        from,
        values: sampleValues(result, content, call.body.values),
      }),
      key: undefined,
    });
    return { messageId: id };
  },
});

async function chooseSender(call: Call, text: string) {
  const sender = await readSender(
    call.parts.database.kysely,
    accountOf(call).id,
    text.toLowerCase(),
  );
  if (sender?.verified !== true)
    throw new Problem('conflict', `${text} is not a verified sender of this account`);
  const name = sender.displayNames.find((one) => one !== '*');
  return { address: sender.address, ...(name === undefined ? {} : { name }) };
}

/** Messages are rendered from versions: a draft that is tried out becomes one that nobody is shown. */
async function keepTrial(
  call: Call,
  content: Content,
  compiled: NonNullable<Awaited<ReturnType<typeof compileTemplate>>['compiled']>,
): Promise<number> {
  const { id: accountId } = accountOf(call);
  const { templateId } = call.params;
  const { sender, freshnessMinutes = 15, ...source } = content;
  const contentHash = createHash('sha256').update(JSON.stringify(content)).digest();
  return inTransaction(call, async (transaction) => {
    const known = await findVersionByContent(transaction, accountId, templateId, contentHash);
    if (known !== undefined) return known;
    const version = {
      accountId,
      templateId,
      contentHash,
      senderAddress: sender?.toLowerCase(),
      freshnessSeconds: freshnessMinutes * 60,
      source,
      compiled,
    };
    return writeVersion(transaction, version, true);
  });
}

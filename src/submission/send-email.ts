import type { Quota } from '../account/account.ts';
import { Fault, type FaultCode } from '../foundation/errors.ts';
import { parseTemplateId } from '../foundation/ids.ts';
import type { RawBody } from '../http/read-body.ts';
import type { SenderDirectory } from '../sender/sender-directory.ts';
import type { SizeFacts } from '../template/certain-size.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import type { TemplateDirectory } from '../template/template-directory.ts';
import type { AcceptRow } from './accept-row.ts';
import type { Admission } from './admit-caller.ts';
import { checkPersonalization } from './check-personalization.ts';
import { checkRenderedSize } from './check-rendered-size.ts';
import { checkSender } from './check-sender.ts';
import { type CommitParts, commitMessage, type Receipt, replayOf } from './commit-message.ts';
import { composeRow } from './compose-row.ts';
import { type IdempotencyKey, type KeysUnderWay, readIdempotencyKey } from './idempotency.ts';
import { inTime } from './in-time.ts';
import type { NotedCalls } from './noted-calls.ts';
import type { SendBodyParser } from './parse-send-body.ts';
import type { QuotaShares } from './quota-shares.ts';
import { readBodyJson, unusableBody } from './read-body-json.ts';

/** What the checks need of a template in the form that it is rendered from. */
interface SendableTemplate {
  readonly compiled: CompiledTemplate;
  readonly size: SizeFacts;
}

export interface SendParts extends CommitParts {
  readonly senders: Pick<SenderDirectory, 'sender'>;
  readonly templates: Pick<TemplateDirectory<SendableTemplate>, 'published'>;
  readonly parser: SendBodyParser;
  readonly keys: KeysUnderWay;
  readonly quotas: Pick<QuotaShares, 'spend'>;
  readonly calls: NotedCalls;
}

/** A request of the send operation whose caller and account have passed checks 1 to 3. */
export interface AdmittedRequest {
  readonly admission: Admission;
  /** As the path has it. */
  readonly templateText: string;
  readonly contentType: string | undefined;
  readonly idempotencyKey: string | string[] | undefined;
  readonly body: RawBody;
}

/**
 * Checks 4 to 10 of the send operation in their order; the first that applies decides the answer. The key (4) is looked
 * up where it is stored (10): a request that is accepted pays no query for it, and one that is refused on the way is
 * looked up before the refusal is answered, so that a replay or a mismatch comes first all the same.
 */
export async function sendEmail(parts: SendParts, asked: AdmittedRequest): Promise<Receipt> {
  const bytes = asked.body instanceof Buffer ? asked.body : undefined;
  const key = readIdempotencyKey(asked.idempotencyKey, asked.templateText, bytes);
  if (key === undefined) return sendNew(parts, asked, undefined, 0);

  const accountId = asked.admission.account.id;
  const deadline = parts.keys.deadline();
  const taking = parts.keys.take(accountId, key.text, deadline);
  const release = taking instanceof Promise ? await taking : taking;
  try {
    return await sendNew(parts, asked, key, deadline);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const known = await replayOf(parts, accountId, key);
    if (known === undefined) throw error;
    return known;
  } finally {
    release();
  }
}

async function sendNew(
  parts: SendParts,
  asked: AdmittedRequest,
  key: IdempotencyKey | undefined,
  deadline: number,
): Promise<Receipt> {
  const { admission } = asked;
  const { id: accountId, addOns, quota } = admission.account;

  // 5 template
  const templateId = parseTemplateId(asked.templateText);
  if (templateId === undefined || admission.templates?.has(templateId) === false)
    throw unknownTemplate();
  const published = parts.templates.published(accountId, templateId);
  const template = published instanceof Promise ? await inTime(published) : published;
  if (template === undefined) throw unknownTemplate();

  // 6 body, add-on included
  if ('unusable' in asked.body) throw unusableBody(asked.body.unusable);
  const json = readBodyJson(asked.body, asked.contentType);
  const request = parts.parser.parse(json, addOns.has('transactional'));

  // 7 sender
  const checked = checkSender(parts.senders, accountId, request, template);
  const sender = checked instanceof Promise ? await inTime(checked) : checked;

  // 8 personalization
  checkPersonalization(template.template.compiled, request);
  checkRenderedSize(template.template, request, asked.body.length);

  // 9 suppression and 10 commit
  const call = parts.calls.newCall(accountId, templateId, request);
  const newCall = call !== undefined;
  const row = composeRow({ admission, templateId, template, request, sender, key, newCall });
  const receipt =
    quota === undefined
      ? commitMessage(parts, row, deadline)
      : commitWithinQuota(parts, quota, row, deadline);
  if (call !== undefined && !(await receipt).replayed) parts.calls.stored(call);
  return receipt;
}

/** What is not stored counts for nothing, save where it is open whether it was (503). */
async function commitWithinQuota(
  parts: SendParts,
  quota: Quota,
  row: AcceptRow,
  deadline: number,
): Promise<Receipt> {
  const takeBack = await parts.quotas.spend(row.accountId, quota);
  try {
    const receipt = await commitMessage(parts, row, deadline);
    if (receipt.replayed) takeBack();
    return receipt;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'IO_EXCEPTION') takeBack();
    throw error;
  }
}

function unknownTemplate(): Fault {
  return new Fault('INVALID_ID', {
    details: [{ field: 'templateId', reason: 'is not a published template of this account' }],
  });
}

/** The answers of checks 5 to 9, and that of a quota, which stands between 8 and 9. */
const refusals: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'INVALID_ID',
  'VALIDATION_FAILED',
  'SENDER_NOT_ALLOWED',
  'PERSONALIZATION_FAILURE',
  'QUOTA_EXCEEDED',
  'RECIPIENT_SUPPRESSED',
]);

function isRefusal(error: unknown): boolean {
  return error instanceof Fault && refusals.has(error.code);
}

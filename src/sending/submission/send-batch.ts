import { CommitFailure } from '../../base/database/group-commit.ts';
import { TurnQueue } from '../../base/fairness/fair-queue.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { isObject } from '../../base/values/is-object.ts';
import { awaitAll } from '../../base/values/maybe-promise.ts';
import { faultBody, toFault } from '../../host/http/answer-fault.ts';
import { formatBytes, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { AcceptRow } from './accept-row.ts';
import type { SendAdmission } from './admit-caller.ts';
import { type AdmittedRequest, checkBeforeCommit } from './check-message.ts';
import { commitMessage, commitTogether, type Receipt, withoutSimulated } from './commit-message.ts';
import { readBatch } from './read-batch.ts';
import { type BodyJson, readBodyJson } from './read-body-json.ts';
import type { SendDependencies } from './send-dependencies.ts';
import { sendEmail } from './send-email.ts';
import { statusMember } from './status-link.ts';

/** A batch whose caller and template passed checks 1 to 5. */
export interface BatchRequest {
  readonly accountId: AccountId;
  readonly templateText: string;
  readonly body: Buffer;
  /** For the bodies of errors. */
  readonly requestId: string;
  /** Of the request, if it is traced. */
  readonly span: TraceSpan | undefined;
  /** Repeats checks 1 to 3, because a batch can take seconds. */
  readonly admit: () => Promise<SendAdmission>;
  readonly onAccepted: () => void;
  /** Called with each error of a message. */
  readonly onFault: (fault: Fault) => void;
}

/**
 * A batch has one chunk of messages in the group commit at a time, so that those of all batches together fill less than half of
 * it, and other accounts' requests wait behind a commit or two.
 */
const messagesPerChunk = 100;
const bytesPerChunk = 1024 * 1024;

/** Max milliseconds of checking messages per event loop turn, unless a single one takes longer. */
const maxTurnMs = 4;
/** Messages not begun this long after their batch are refused. */
const maxBatchMs = 30_000;
/** Details in the results of a batch; beyond them, each result shows its first one only. */
const maxBatchDetails = 1_000;

/** Sends the messages of batches as the send operation would, a bounded number at a time. */
export class BatchSender {
  readonly #dependencies: SendDependencies;
  readonly #turns = new TurnQueue();
  readonly #slots = new Limiter(policies.batches);

  constructor(dependencies: SendDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Sends each message.
   * @returns the body that the send operation would return for each message, as JSON, in order
   * @throws Fault VALIDATION_FAILED if the body isn't a batch, IO_EXCEPTION if too many are in progress
   */
  async send(batch: BatchRequest): Promise<readonly string[]> {
    return this.useItems(batch.accountId, batch.body, (items) => this.#sendAll(batch, items));
  }

  /**
   * Splits a batch into its messages, and keeps its slot while they are used.
   * @param body `{"messages": [ … ]}`
   * @throws Fault as `send` does
   */
  async useItems<Result>(
    accountId: AccountId,
    body: Buffer,
    use: (items: readonly Buffer[]) => Promise<Result>,
  ): Promise<Result> {
    const { release } = await this.#slots.acquire(accountId).catch((cause: unknown) => {
      throw new Fault('IO_EXCEPTION', { cause });
    });
    try {
      const runInTurn = <Piece>(work: () => Piece): Promise<Piece> =>
        this.#turns.run(accountId, work);
      return await use(await readBatch(body, runInTurn));
    } finally {
      release();
    }
  }

  async #sendAll(batch: BatchRequest, items: readonly Buffer[]): Promise<readonly string[]> {
    batch.span?.set({ 'messaging.batch.message_count': items.length });
    const results: string[] = [];
    const describe = new ResultWriter(batch);
    const deadline = performance.now() + maxBatchMs;
    while (results.length < items.length) {
      const chunk = takeChunk(items, results.length);
      const outcomes = await this.#sendChunk(batch, chunk, deadline);
      for (const outcome of outcomes) results.push(describe.write(outcome));
    }
    return results;
  }

  /** Resolves once each message of the chunk has an outcome. */
  async #sendChunk(
    batch: BatchRequest,
    chunk: readonly Buffer[],
    deadline: number,
  ): Promise<readonly Outcome[]> {
    let admission: SendAdmission;
    try {
      if (performance.now() >= deadline) throw new Fault('IO_EXCEPTION', { cause: batchTimeout });
      admission = await batch.admit();
    } catch (error) {
      const fault = toFault(error);
      return chunk.map(() => fault);
    }
    const outcomes: (Outcome | Promise<Outcome>)[] = [];
    const commits: Promise<void>[] = [];
    /** The latest message of each key; a repetition begins after it, as a second request would. */
    const latest = new Map<string, Promise<Outcome>>();
    // Not async: what it would keep until the commit, such as the parsed body, garbage collections would copy.
    const send = (item: Buffer): Outcome | Promise<Outcome> | AcceptRow => {
      try {
        const request = toRequest(admission, batch, item);
        const key = request.idempotencyKey;
        if (key === undefined && request.span === undefined) return this.#sendPlain(request);
        const before = typeof key === 'string' ? latest.get(key) : undefined;
        const sent =
          before === undefined
            ? sendEmail(this.#dependencies, request)
            : before.then(() => this.#repeat(request, deadline));
        const outcome = sent.catch(toFault);
        if (typeof key === 'string') latest.set(key, outcome);
        return outcome;
      } catch (error) {
        return toFault(error);
      }
    };
    while (outcomes.length < chunk.length)
      await this.#turns.run(batch.accountId, () => {
        const end = performance.now() + maxTurnMs;
        this.#dependencies.acceptor.acceptTogether(() => {
          const rows = new Map<number, AcceptRow>();
          do {
            const sent = send(chunk[outcomes.length] as Buffer);
            if (isRow(sent)) rows.set(outcomes.length, sent);
            outcomes.push(isRow(sent) ? pendingOutcome : sent);
          } while (outcomes.length < chunk.length && performance.now() < end);
          commits.push(this.#commitRows(rows, outcomes));
        });
      });
    await Promise.all(commits);
    return awaitAll(outcomes);
  }

  /** @returns a row to be committed with others if the message needs nothing else */
  #sendPlain(request: AdmittedRequest): Promise<Outcome> | AcceptRow {
    const checking = checkBeforeCommit(this.#dependencies, request);
    if (checking instanceof Promise)
      return checking.then((message) => commitMessage(this.#dependencies, message)).catch(toFault);
    const { row, attachments, newUsageRecord, quota } = checking;
    if (attachments === undefined && newUsageRecord === undefined && quota === undefined)
      return withoutSimulated(row);
    return commitMessage(this.#dependencies, checking).catch(toFault);
  }

  /** @param rows of one turn, by their places in the chunk */
  async #commitRows(
    rows: ReadonlyMap<number, AcceptRow>,
    outcomes: (Outcome | Promise<Outcome>)[],
  ): Promise<void> {
    const receipts = await commitTogether(this.#dependencies, [...rows.values()]);
    [...rows.keys()].forEach((place, index) => {
      const receipt = receipts[index];
      if (receipt !== undefined)
        outcomes[place] = receipt instanceof CommitFailure ? toFault(receipt.error) : receipt;
    });
  }

  #repeat(request: AdmittedRequest, deadline: number): Promise<Receipt> {
    if (performance.now() >= deadline) throw new Fault('IO_EXCEPTION', { cause: batchTimeout });
    return sendEmail(this.#dependencies, request);
  }
}

type Outcome = Receipt | Fault;

/** Replaced once the rows of its turn are committed. */
const pendingOutcome = new Fault('IO_EXCEPTION');

function isRow(sent: Outcome | Promise<Outcome> | AcceptRow): sent is AcceptRow {
  return 'content' in sent;
}

const batchTimeout = new Error(`the batch took longer than ${maxBatchMs / 1_000} seconds`);

function takeChunk(items: readonly Buffer[], from: number): readonly Buffer[] {
  let end = from;
  let bytes = 0;
  while (end < items.length && end - from < messagesPerChunk) {
    bytes += items[end]?.length ?? 0;
    if (bytes > bytesPerChunk && end > from) break;
    end += 1;
  }
  return items.slice(from, end);
}

const oversized = { unusable: `the body is larger than ${formatBytes(sendBodyBytes)}` };
const jsonType = 'application/json';

/** The request for an item. Its key is a member of its body, so it is part of what the key's hash covers. */
function toRequest(
  admission: SendAdmission,
  { templateText, span }: BatchRequest,
  item: Buffer,
): AdmittedRequest {
  const request = { admission, templateText, contentType: jsonType, span };
  if (item.length > sendBodyBytes)
    return { ...request, idempotencyKey: undefined, body: oversized };
  const json = readBodyJson(item, jsonType);
  const idempotencyKey = takeMember(json.value, 'idempotencyKey');
  return { ...request, idempotencyKey, body: item, parsed: refuseAttachments(json) };
}

const attachments = 'attachments';

function refuseAttachments({ value, problems }: BodyJson): BodyJson {
  const content = isObject(value) && Object.hasOwn(value, 'content') ? value.content : undefined;
  if (takeMember(content, attachments) === undefined) return { value, problems };
  const reason = 'isn’t allowed in a batch; send this message in a separate request';
  return { value, problems: [...problems, { field: `content.${attachments}`, reason }] };
}

/** Removes a member from an object and returns its value. */
function takeMember(value: unknown, name: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
  const member = value[name];
  delete value[name];
  return member;
}

/** Writes the results of one batch. */
class ResultWriter {
  readonly #batch: BatchRequest;
  #details = 0;

  constructor(batch: BatchRequest) {
    this.#batch = batch;
  }

  write(outcome: Outcome): string {
    if (!(outcome instanceof Fault)) {
      this.#batch.onAccepted();
      return toAcceptedResult(outcome);
    }
    this.#batch.onFault(outcome);
    const body = faultBody(outcome, this.#batch.requestId);
    return JSON.stringify({ ...body, details: this.#limit(outcome.details) });
  }

  /** Limits the size of the response, since a short message can have many problems. */
  #limit(details: readonly FaultDetail[]): readonly FaultDetail[] {
    this.#details += details.length;
    if (this.#details <= maxBatchDetails || details.length < 2) return details;
    return [
      ...details.slice(0, 1),
      { field: '', reason: `and ${details.length - 1} more problems` },
    ];
  }
}

function toAcceptedResult({ messageId, suppressedRecipients, statusUrl }: Receipt): string {
  const list = suppressedRecipients.length === 0 ? '[]' : JSON.stringify(suppressedRecipients);
  return `{"success":true,"status":200,"message":"Successfully Accepted","messageId":"${messageId}","suppressedRecipients":${list}${statusMember(statusUrl)}}`;
}

// First, as in each thread of the service: a parser that fails must not change the objects of the others.
import '../../src/base/threads/lock-intrinsics.ts';
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { cutAtLinks } from '../../console/src/inbox/mail-links.ts';
import { readAuthorizationRequest } from '../../src/accounts/oauth/authorization-request.ts';
import { checkSpf } from '../../src/accounts/sender/check-record.ts';
import { readProviderClaims } from '../../src/accounts/sign-in/single-sign-on/read-provider-claims.ts';
import type { Dns } from '../../src/base/dns/dns-client.ts';
import { decodeTransferEncoding, decodeWords } from '../../src/base/mime/decode.ts';
import { readParameters } from '../../src/base/mime/header-fields.ts';
import { TooManyParts } from '../../src/base/mime/mime-entity.ts';
import { parseMailboxes } from '../../src/base/mime/parse-mailboxes.ts';
import { readMail } from '../../src/base/mime/read-mail.ts';
import { detectCsvForm } from '../../src/base/values/csv-file.ts';
import { Fault } from '../../src/base/values/errors.ts';
import { readContactHeader } from '../../src/content/list/contact-file.ts';
import { BodyTooLarge } from '../../src/content/rendering/body-writer.ts';
import { CheckedValues } from '../../src/content/rendering/checked-values.ts';
import { mapHtmlPartsJob as mapHtmlParts } from '../../src/content/rendering/map-html-parts-job.ts';
import { mailboxHeader } from '../../src/content/rendering/message-headers.ts';
import { UrlBuilder } from '../../src/content/rendering/render-body.ts';
import { htmlText } from '../../src/content/template/html-text.ts';
import { viewSourceJob as viewSource } from '../../src/drop-in/provider/sent-messages.ts';
import { InvalidImportFile, importCsv } from '../../src/operating/management/import/import-csv.ts';
import {
  classifyBounce,
  findReply,
  sanitizeDiagnostic,
} from '../../src/outcomes/bounce/classify-bounce.ts';
import {
  parseFeedbackMail,
  readDeliveryStatus,
} from '../../src/outcomes/bounce/parse-feedback-mail.ts';
import { readMailgun } from '../../src/outcomes/relay/read-mailgun.ts';
import { readPostmark } from '../../src/outcomes/relay/read-postmark.ts';
import { readSendgrid } from '../../src/outcomes/relay/read-sendgrid.ts';
import { readSes } from '../../src/outcomes/relay/read-ses.ts';
import { authenticateReply } from '../../src/outcomes/reply/authenticate-reply.ts';
import { parseReplyMail } from '../../src/outcomes/reply/parse-reply.ts';
import { previewReply } from '../../src/outcomes/reply/receive-reply.ts';
import {
  encodeRawMailJob,
  finishRawMailJob as finishRawMail,
} from '../../src/sending/delivery/finish-raw-mail.ts';
import { parseStsPolicy, readStsRecord } from '../../src/sending/delivery/mta-sts/sts-policy.ts';
import { parseReply } from '../../src/sending/delivery/reply.ts';
import { parseMailJob as parseCaptured } from '../../src/sending/inbox/parse-mail.ts';
import { showCapturedJob as showCaptured } from '../../src/sending/inbox/show-captured.ts';
import { readMessageHead } from '../../src/sending/smtp-submission/read-message-head.ts';
import { readMailboxField } from '../../src/sending/smtp-submission/template-submission.ts';
import {
  defaultAttachmentRules,
  findRefusal,
} from '../../src/sending/submission/attachment-types.ts';
import { checkRawPartsJob as checkRawParts } from '../../src/sending/submission/check-raw-parts.ts';
import { BatchScanner } from '../../src/sending/submission/read-batch.ts';

/** Repeated to any length, they made some parser's time grow with its square. */
const pieces = [
  '.',
  ' ',
  '\t ',
  '-',
  '--\r\n',
  '--b\r\n',
  '--b--\r\n',
  '\r\n',
  '\n',
  '\r\n ',
  'a-',
  'a: b\r\n',
  '(',
  '()',
  ')',
  '"',
  '\\',
  '""',
  '<',
  '<>',
  '<a@b>,',
  '@',
  'a@a.',
  ',',
  ';',
  ';a=b',
  ";a*0*=x'y'%41",
  ';__proto__*1=',
  '=?utf-8?q?',
  '=?utf-8?b?QQ?= ',
  '=41',
  '= ',
  '=\r\n',
  '=cid:',
  '"cid:a',
  'http://a',
  'http://a.',
  '&#6',
  '&amp',
  '<!--',
  '<a href=',
  '<a ',
  '<style>',
  '<div>',
  'url(',
  '550 5.1.1 ',
  '>>> DATA <<< 550 ',
  'AAAA',
  '\xff',
  'include:a ',
  'a&',
  'a,',
  '{',
  '[{"',
];

const message = (head: string, body: string): Buffer =>
  Buffer.from(`${head}\r\n\r\n${body}`, 'latin1');
const multipart = 'Content-Type: multipart/mixed; boundary=b';
const nested = (text: string): Buffer => {
  const levels = Array.from({ length: 8 }, (_, level) => `b${level}`);
  const heads = levels.map(
    (name) => `Content-Type: multipart/mixed; boundary=${name}\r\n\r\n--${name}\r\n`,
  );
  return Buffer.from(`${heads.join('')}\r\n${text}`, 'latin1');
};

/** The places of a message where outsiders can write. */
const messages: Readonly<Record<string, (text: string) => Buffer>> = {
  'the header': (text) => message(`X: ${text}`, ''),
  'an address': (text) => message(`From: ${text}\r\nTo: ${text}`, 'x'),
  'a subject': (text) => message(`Subject: ${text}`, 'x'),
  'a type': (text) => message(`Content-Type: text/plain; ${text}`, 'x'),
  'an encoding': (text) => message(`Content-Transfer-Encoding: ${text}`, 'x'),
  'a filename': (text) =>
    message(
      multipart,
      `--b\r\nContent-Disposition: attachment; filename="${text}x"\r\n\r\nx\r\n--b--`,
    ),
  'a boundary': (text) => message(`Content-Type: multipart/mixed; boundary="${text}"`, text),
  'a body': (text) => message(multipart, text),
  'a text': (text) => message('Content-Type: text/plain; format=flowed', text),
  'quoted-printable': (text) =>
    message('Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable', text),
  HTML: (text) => message('Content-Type: text/html', text),
  'nested parts': nested,
  'a report': (text) =>
    message(
      'Content-Type: multipart/report; boundary=b',
      `--b\r\n\r\n${text}\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\r\nAction: failed\r\nDiagnostic-Code: smtp; ${text}\r\n--b--`,
    ),
};

const absent = { kind: 'absent', what: 'name', ttl: 1, server: '' } as const;
const emptyDns: Dns = { lookUp: async () => absent };

/** Every key and policy is this text. */
const dnsOf = (text: string): Dns => ({
  lookUp: async (_name, type) =>
    type === 'TXT' ? { kind: 'found', records: [text] as never, ttl: 1, server: '' } : absent,
});

/** Half of the text: 128 KiB are twice what a record of DNS can hold (RFC 1035 section 3.2.1: a length of 16 bits). */
const recordOf = (text: string): string => text.slice(0, text.length / 2);

/** Half of the text: a row costs as much as a page of other texts, but is as long as its author wants. */
async function importContacts(text: string): Promise<void> {
  const counts = { bytesRead: 0, rowsRead: 0, rowsWritten: 0, rowsWrong: 0 };
  const open = (columns: readonly string[]) => {
    const read = readContactHeader(columns);
    if (typeof read === 'string') throw new InvalidImportFile(read);
    return { read, keyOf: ({ email }: { readonly email: string }) => email };
  };
  const file = Buffer.from(`email,name\na@b.test,${text.slice(0, text.length / 2)}`);
  const form = detectCsvForm(Buffer.from(text));
  await importCsv(Readable.from([file]), form, counts, open, async () => undefined);
}

function scanBatch(text: string): unknown {
  const scanner = new BatchScanner(Buffer.from(`{"messages":[${text}`), 10_000);
  while (!scanner.scan(64 * 1_024));
  return scanner.finish();
}

function readRelays(text: string): unknown {
  const recipient = { emailAddress: text, status: text, diagnosticCode: text };
  return [
    readSes({ notificationType: 'Bounce', bounce: { bouncedRecipients: [recipient] }, mail: text }),
    readPostmark({ RecordType: 'Bounce', Type: text, Email: text, Details: text }),
    readMailgun({
      'event-data': { event: 'failed', recipient: text, 'delivery-status': { message: text } },
    }),
    readSendgrid([{ event: 'bounce', email: text, status: text, reason: text, 'smtp-id': text }]),
  ];
}

const piecesOf = (text: string): string[] => text.match(/.{1,16}/gs) ?? [];

const origin = { remoteAddress: '192.0.2.1', helo: 'mx.a.test', envelopeFrom: 'a@a.test' };

const readers: Readonly<Record<string, (source: Buffer) => unknown>> = {
  'the reader of mail': readMail,
  'the check of submissions': (source) =>
    checkRawParts({ source, rules: defaultAttachmentRules, tracking: ['actions.trackOpens'] }),
  'the preparation of submissions': (source) =>
    finishRawMail({ source, added: '', changes: undefined }),
  'the encoder for seven bits': (source) => encodeRawMailJob({ source }),
  'the reader of reports': (source) => parseFeedbackMail({ source }),
  'the reader of replies': (source) =>
    previewReply(parseReplyMail({ source, envelopeFrom: 'a@b.test' }).parts),
  'the capture': (source) => parseCaptured({ source }),
  'the view of a sent message': (source) => viewSource({ source }),
  'the tracker of HTML': (source) => mapHtmlParts({ source }),
};

const textReaders: Readonly<Record<string, (text: string) => unknown>> = {
  'encoded words': decodeWords,
  'a list of addresses': (text) => parseMailboxes(text, 100),
  'the sender of a submission': readMailboxField,
  'the header of a submission': (text) => readMessageHead(Buffer.from(text)),
  parameters: readParameters,
  'quoted-printable': (text) => decodeTransferEncoding(text, 'quoted-printable'),
  'a delivery status': readDeliveryStatus,
  'a diagnostic': (text) => [
    classifyBounce('5.0.0', text),
    findReply(text),
    sanitizeDiagnostic(text),
  ],
  'the reply of a server': parseReply,
  'the links of a text': cutAtLinks,
  'references to images': (html) => showCaptured({ html, source: Buffer.from('x') }),
  'the header and the body of a reply': (text) =>
    authenticateReply(
      message(`DKIM-Signature: v=1; ${text}\r\nFrom: ${text}`, text),
      origin,
      emptyDns,
      'mx.b.test',
      60_000,
    ).catch(() => undefined),
  'a key and a policy in DNS': (text) =>
    authenticateReply(signed, origin, dnsOf(`v=spf1 ${recordOf(text)}`), 'mx.b.test', 60_000),
  'an SPF record': (text) => {
    const record = `v=spf1 ${recordOf(text)}`;
    return checkSpf(dnsOf(record), 'a.test', record, {
      delivery: 'direct',
      spfMechanisms: ['include:relay.test', 'ip4:192.0.2.1'],
      recordsElsewhere: [],
      host: 'mx.b.test',
      usesReturnPath: false,
      trackingTarget: undefined,
    });
  },
  'an MTA-STS record and policy': (text) => [
    readStsRecord([`v=STSv1; ${text}`]),
    parseStsPolicy(`version: STSv1\nmode: enforce\nmax_age: 1\nmx: ${text}\n${text}`),
  ],
  'a file of contacts': importContacts,
  'a batch': scanBatch,
  'the reports of relays': readRelays,
  'the claims of a provider': (text) =>
    readProviderClaims({
      iss: 'https://a.test',
      sub: text,
      email: text,
      name: text,
      groups: [text],
    }),
  'a request for authorization': (text) =>
    readAuthorizationRequest(text, () => undefined).catch(() => undefined),
  'the text of HTML': htmlText,
  'the values of a URL': (text) => {
    const values = piecesOf(text);
    for (const scheme of ['tel:', 'mailto:', 'https://a.test/']) {
      const url = new UrlBuilder(false, new CheckedValues());
      url.addStatic(scheme);
      for (const value of values) url.addValue(value);
    }
  },
  'the mailboxes of a header': (text) =>
    mailboxHeader(
      'To',
      piecesOf(text).map((displayName) => ({ address: 'a@b.test' as never, displayName })),
    ),
  'the name of a file': (text) =>
    findRefusal(defaultAttachmentRules, `${text}x`, 'text/plain', Buffer.from('x')),
};

const signed = message(
  'From: a@a.test\r\nDKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=s; h=from; bh=AAAA; b=AAAA',
  'x',
);

const small = 32 * 1_024;
const large = 256 * 1_024;
const maxGrowth = 12;
const pageBytes = 4_096;
/** Bytes of new memory for each byte of a text that may count as growing with it. */
const maxMemory = 16;
/** Less says nothing about growth: a garbage collection counts. */
const countedMs = 8;
/** Time that grows with the square would be 2 s for 4 MiB, the most that a stranger can send. */
const negligibleMs = 0.125;

interface Use {
  /** Of processor time. */
  readonly ms: number;
  /** New pages of memory. */
  readonly pages: number;
}

async function measure(work: () => unknown): Promise<Use> {
  const before = useOfThread();
  await work();
  const { ms, pages } = useOfThread();
  return { ms: ms - before.ms, pages: pages - before.pages };
}

/** Linux adds to the processor time of a running thread at a tick of its clock, or when that of the process is asked for. */
function useOfThread(): Use {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return { ms: (user + system) / 1_000, pages: process.resourceUsage().minorPageFault };
}

/**
 * The time without that for new pages, which grows with the text: a system can take many times as long to give a page as a reader
 * takes to read it, and a short text takes pages that the process has already.
 */
function timeToRead({ ms, pages }: Use, bytes: number, pageMs: number): number {
  const most = (bytes * maxMemory) / pageBytes;
  return Math.max(ms - Math.min(pages, most) * pageMs, 0);
}

/** How long the system takes to give a page, now. */
async function measurePage(): Promise<number> {
  // The allocator keeps no region of this size.
  const region = Buffer.allocUnsafeSlow(33 * 1_024 * 1_024);
  const { ms, pages } = await measure(() => {
    for (let page = 0; page < 128; page += 1) region[page * pageBytes] = 1;
  });
  return ms / Math.max(pages, 1);
}

/**
 * The processor time of a long text, as a multiple of that of an eighth of it. What takes no time for an eighth takes little for
 * the whole, even if it grows with the square. Each try reads as many bytes in eighths as at once, so that collecting garbage
 * counts for both, and the best time of each counts.
 */
async function growthOf(
  work: (bytes: number) => () => unknown,
): Promise<{ ms: number; growth: number }> {
  if ((await measure(work(small))).ms < negligibleMs) return { ms: 0, growth: 0 };
  const times = large / small;
  let best = { ms: Number.POSITIVE_INFINITY, growth: Number.POSITIVE_INFINITY };
  let eighthMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 8 && best.growth > maxGrowth; attempt += 1) {
    const whole = await measure(work(large));
    if (whole.ms < countedMs) return { ms: whole.ms, growth: 0 };
    const pageMs = await measurePage();
    const ms = Math.min(best.ms, timeToRead(whole, large, pageMs));
    if (ms < countedMs) return { ms, growth: 0 };
    const eighth = work(small);
    const eighths = await measure(async () => {
      for (let count = 0; count < times; count += 1) await eighth();
    });
    eighthMs = Math.min(eighthMs, eighths.ms / times);
    best = { ms, growth: ms / eighthMs };
  }
  return best;
}

const limits = [TooManyParts, Fault, InvalidImportFile, BodyTooLarge];

/** Refusing a message must not take longer than reading it, either. */
async function readUpToLimits(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!limits.some((limit) => error instanceof limit)) throw error;
  }
}

const repeat = (piece: string, bytes: number): string =>
  piece.repeat(Math.ceil(bytes / piece.length));

async function requireLinear(name: string, work: (bytes: number) => () => unknown): Promise<void> {
  const { ms, growth } = await growthOf(work);
  assert.ok(growth <= maxGrowth, `${name}: ${Math.round(ms)} ms, ${growth.toFixed(1)} times`);
}

/** Makes each size once: making a text takes about as long as reading it, so readers share it. */
function inSizes<Made>(make: (bytes: number) => Made): (bytes: number) => Made {
  const sizes = new Map<number, Made>();
  return (bytes) => {
    const made = sizes.get(bytes) ?? make(bytes);
    sizes.set(bytes, made);
    return made;
  };
}

for (const [place, write] of Object.entries(messages))
  test(`every reader takes time in proportion to the message, whatever stands in ${place}`, async () => {
    for (const piece of pieces) {
      const sourceOf = inSizes((bytes) => write(repeat(piece, bytes)));
      for (const [reader, read] of Object.entries(readers))
        await requireLinear(`${reader}: ${JSON.stringify(piece)}`, (bytes) => {
          const source = sourceOf(bytes);
          return () => readUpToLimits(() => read(source));
        });
    }
  });

const texts = pieces.map((piece) => [piece, inSizes((bytes) => repeat(piece, bytes))] as const);

for (const [what, read] of Object.entries(textReaders))
  test(`reading ${what} takes time in proportion to the text, whatever it is`, async () => {
    for (const [piece, textOf] of texts)
      await requireLinear(JSON.stringify(piece), (bytes) => {
        const text = textOf(bytes);
        return () => readUpToLimits(() => read(text));
      });
  });

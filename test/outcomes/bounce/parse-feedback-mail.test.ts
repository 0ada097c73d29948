import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FeedbackMail } from '../../../src/outcomes/bounce/classify-bounce.ts';
import { parseFeedbackMail } from '../../../src/outcomes/bounce/parse-feedback-mail.ts';
import { assertQuick } from '../../support/assert-quick.ts';

const folder = join(import.meta.dirname, 'mail-reports');

interface Label {
  /** The source of the format: a file of a public repository, an RFC, or a page. */
  readonly source: string;
  readonly kind: FeedbackMail['kind'];
  readonly cause?: string;
  readonly permanent?: boolean;
}

const labels = JSON.parse(await readFile(join(folder, 'labels.json'), 'utf8')) as Record<
  string,
  Label
>;
const sources = await Promise.all(
  Object.keys(labels).map(
    async (name) => [name, await readFile(join(folder, `${name}.eml`))] as const,
  ),
);

test('there are at least 60 formats, and each has a label', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.eml'));
  assert.ok(files.length >= 60);
  assert.deepEqual(files.map((file) => file.slice(0, -4)).sort(), Object.keys(labels).sort());
});

test('each format names its source, and at least 60 sources are public', () => {
  const shown = /^(?:[\w-]+\/[\w-]+ \S+|RFC \d{4} |https:\/\/)/;
  const own = /^(?:none: .|postfix-user-unknown, .)/;
  const all = Object.entries(labels);
  for (const [name, { source }] of all) assert.ok(shown.test(source) || own.test(source), name);
  assert.ok(all.filter(([, { source }]) => shown.test(source)).length >= 60);
});

for (const [name, source] of sources) {
  test(`the feedback mail ${name} is parsed as labeled`, () => {
    const report = parseFeedbackMail({ source });
    const read =
      report.kind === 'bounce'
        ? { kind: report.kind, cause: report.cause, permanent: report.permanent }
        : { kind: report.kind };
    const { source: _, ...label } = labels[name] ?? {};
    assert.deepEqual(read, label);
  });
}

/** A message of a program that writes no report. */
function inWords(subject: string, ...words: string[]): FeedbackMail {
  const lines = ['From: mailer-daemon@mx.test', `Subject: ${subject}`, '', ...words];
  return parseFeedbackMail({ source: Buffer.from(lines.join('\r\n')) });
}

test('a promise to try again is a delay, whatever the subject says', () => {
  for (const [subject, words] of [
    ['Delivery Status Notification (Delay)', 'Message will be retried for 2 more day(s)'],
    ['Mail Delivery Warning', 'It was postponed. We will continue to try to deliver it.'],
    ['Returned mail', 'Delivery attempts will continue for three days.'],
  ] as const)
    assert.equal(inWords(subject, words).kind, 'delay', subject);
});

test('the cause is recognized in words around names with dots', () => {
  for (const [words, cause] of [
    ['host customer.example not found', 'no-domain'],
    ['The domain customer.example does not exist', 'no-domain'],
    ['No mx record found for domain=customer.example', 'no-domain'],
    ['The message could not be routed (#5.4.4)', 'no-domain'],
    ['The address ann.b@customer.example is unknown', 'no-mailbox'],
  ] as const) {
    const bounce = inWords('Mail delivery failed', words);
    assert.equal(bounce.kind === 'bounce' && bounce.cause, cause, words);
  }
});

test('a mailbox is not invalid where the words contradict its status', () => {
  for (const words of ['max message size exceeded', 'Greylisted, try again later']) {
    const bounce = inWords('Mail delivery failed', `550 5.1.1 RCPT TO:<a@b.test> ${words}`);
    assert.notEqual(bounce.kind === 'bounce' && bounce.cause, 'no-mailbox', words);
  }
});

test('RFC 2920 3.1: DATA refused for want of recipients leaves what was said of them', () => {
  const words = ['>>> DATA', '<<< 550 unknown user', '<<< 503-All RCPT commands were rejected'];
  const bounce = inWords('Mail delivery failed', ...words);
  assert.equal(bounce.kind === 'bounce' && bounce.cause, 'no-mailbox');
});

/** A report whose parts are given with their types. */
function inParts(
  type: string,
  parts: readonly (readonly [type: string, ...lines: string[]])[],
  head: readonly string[] = [],
): FeedbackMail {
  const lines = [
    'From: mailer-daemon@mx.test',
    `Content-Type: ${type}; boundary=b`,
    ...head,
    '',
    ...parts.flatMap(([each, ...text]) => ['--b', `Content-Type: ${each}`, '', ...text]),
    '--b--',
  ];
  return parseFeedbackMail({ source: Buffer.from(lines.join('\r\n')) });
}

const deliveryStatus = 'multipart/report; report-type=delivery-status';

test('RFC 3464 2.3: an alias that reached one of its recipients works', () => {
  const status = [
    ['Final-Recipient: rfc822; one@people.test', 'Action: delivered', 'Status: 2.0.0', ''],
    ['Final-Recipient: rfc822; two@people.test', 'Action: failed', 'Status: 5.1.1', ''],
  ];
  for (const groups of [status, status.toReversed()]) {
    const lines = ['Reporting-MTA: dns; mx.test', '', ...groups.flat()];
    const report = inParts(deliveryStatus, [
      ['text/plain', 'Some failed.'],
      ['message/delivery-status', ...lines],
    ]);
    assert.deepEqual(report, { kind: 'notice', what: 'delivered' });
  }
});

test('RFC 3464 2.3.3: an expired message has bounced, also without a status', () => {
  const report = inParts(deliveryStatus, [
    ['text/plain', 'It was not delivered in time.'],
    [
      'message/delivery-status',
      'Reporting-MTA: dns; mx.test',
      '',
      'Final-Recipient: rfc822; ann@people.test',
      'Action: expired',
      'Status:',
    ],
  ]);
  assert.equal(report.kind, 'bounce');
  assert.equal(report.kind === 'bounce' && report.status, '5.4.7');
});

test('the returned header of the message says nothing about the failure', () => {
  const report = inParts(
    'multipart/mixed',
    [
      ['text/plain', '550 5.1.1 User unknown'],
      ['text/plain', 'Received: from a.test', 'Subject: blocked by a blocklist, reputation'],
    ],
    ['Subject: Returned mail'],
  );
  assert.equal(report.kind === 'bounce' && report.cause, 'no-mailbox');
});

test('RFC 6532, 2047: subjects are read as UTF-8 and decoded', () => {
  assert.equal(inWords('メールエラー通知', '550 5.1.1 User unknown').kind, 'bounce');
  const subject = '=?utf-8?Q?R=C3=A9ponse_automatique?=';
  const lines = ['From: ann@people.test', `Subject: ${subject}`, '', 'Je reviens lundi.'];
  assert.equal(parseFeedbackMail({ source: Buffer.from(lines.join('\r\n')) }).kind, 'auto-reply');
});

test('a report is found in a forwarded message, beside an empty text, and behind a wrong boundary', () => {
  const status = [
    'message/delivery-status',
    'Reporting-MTA: dns; mx.test',
    '',
    'Final-Recipient: rfc822; ann@people.test',
    'Action: failed',
    'Status: 5.1.1',
  ] as const;
  const forwarded = inParts('multipart/mixed', [
    ['text/plain', 'See the attached report.'],
    [
      'message/rfc822',
      `Content-Type: ${deliveryStatus}; boundary=inner`,
      '',
      '--inner',
      `Content-Type: ${status[0]}`,
      '',
      ...status.slice(1),
      '--inner--',
    ],
  ]);
  const html = inParts(
    'multipart/alternative',
    [
      ['text/plain', ''],
      ['text/html', '<p>550 5.1.1 <b>User unknown</b></p>'],
    ],
    ['Subject: Undeliverable'],
  );
  const lines = [`Content-Type: ${deliveryStatus}; boundary=other`, '', '--b'];
  const wrong = parseFeedbackMail({
    source: Buffer.from(
      [...lines, `Content-Type: ${status[0]}`, '', ...status.slice(1), '--b--'].join('\r\n'),
    ),
  });
  for (const report of [forwarded, html, wrong])
    assert.equal(report.kind === 'bounce' && report.cause, 'no-mailbox', JSON.stringify(report));
});

test('what Amazon SES says by mail is read like its notifications', () => {
  const notify = (notification: object) =>
    inParts('multipart/mixed', [
      ['text/plain', JSON.stringify(notification), '', '--', 'To stop these, go to {AWS}'],
    ]);
  const bounce = notify({
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      bouncedRecipients: [
        { emailAddress: 'ann@people.test', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 no' },
      ],
    },
  });
  assert.ok(bounce.kind === 'bounce');
  assert.deepEqual([bounce.cause, bounce.permanent, bounce.status], ['no-mailbox', true, '5.1.1']);
  const complaint = {
    complaintFeedbackType: 'abuse',
    complainedRecipients: [{ emailAddress: 'ann@people.test' }],
  };
  assert.deepEqual(notify({ notificationType: 'Complaint', complaint }), {
    kind: 'complaint',
    feedbackType: 'abuse',
  });
  assert.equal(notify({ notificationType: 'Delivery' }).kind, 'unknown');
});

test('no diagnostic contains an address', () => {
  for (const [name, source] of sources) {
    const report = parseFeedbackMail({ source });
    if ('diagnostic' in report) assert.doesNotMatch(report.diagnostic, /\w@\w/, name);
  }
});

test('parsing handles arbitrary, truncated and mixed input quickly', () => {
  const buffers = sources.map(([, source]) => source);
  fc.assert(
    fc.property(
      fc.constantFrom(...buffers),
      fc.constantFrom(...buffers),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.uint8Array({ maxLength: 200 }),
      (one, two, share, noise) => {
        const source = Buffer.concat([
          one.subarray(0, one.length * share),
          noise,
          two.subarray(two.length * share),
        ]);
        return parseFeedbackMail({ source }).kind.length > 0;
      },
    ),
  );
  const pieces = [
    'a',
    '--x\n',
    '550 ',
    ' \n',
    ':\n',
    '=?utf-8?q?',
    'user ',
    '@a.b',
    '<p>',
    '-',
    '<style',
    'domain ',
    'mailbox ',
    '- \n',
    '<',
  ];
  assertQuick(5_000, () => {
    for (const piece of pieces) {
      const head =
        'From: MAILER-DAEMON@x.test\nContent-Type: multipart/report; boundary=x\n\n--x\n\n';
      parseFeedbackMail({ source: Buffer.from(head + piece.repeat(200_000)) });
      parseFeedbackMail({
        source: Buffer.from(
          `From: MAILER-DAEMON@x.test\nContent-Type: text/html\n\n${piece.repeat(200_000)}`,
        ),
      });
    }
  });
});

test('a run of spaces in quoted-printable text takes no longer than other text of the same length', () => {
  const blanks = ' '.repeat(199_000);
  const source = Buffer.from(
    `From: mailer-daemon@mx.test\nSubject: Undelivered\nContent-Transfer-Encoding: quoted-printable\n\n550 5.1.1 user unknown${blanks}x`,
  );
  assertQuick(5_000, () => assert.equal(parseFeedbackMail({ source }).kind, 'bounce'));
});

test('spaces before a soft line break are text (RFC 2045 section 6.7)', () => {
  const source = Buffer.from(
    'From: mailer-daemon@mx.test\nSubject: Undelivered\nContent-Transfer-Encoding: quoted-printable\n\n550 5.1.1 user =\nunk= \nnown',
  );
  const report = parseFeedbackMail({ source });
  assert.ok('diagnostic' in report);
  assert.equal(report.diagnostic, '550 5.1.1 user unknown');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFeedbackMail } from '../../../src/outcomes/bounce/parse-feedback-mail.ts';
import { classifyTransaction } from '../../../src/sending/delivery/classify-transaction.ts';
import { parseReply } from '../../../src/sending/delivery/reply.ts';
import { hardCauses } from '../../../src/sending/delivery/reply-rules.ts';
import type { Stage } from '../../../src/sending/delivery/transport.ts';

/**
 * Replies that sound final although the mailbox may exist, so the next message must be attempted. Each line has the reply, its
 * cause, its source and the stage, which is RCPT unless it is named.
 */
const alive = `
550-5.2.1 The email account that you tried to reach is disabled. | mailbox-disabled | rhost-google-07
550 5.2.1 The email account that you tried to reach is inactive. | mailbox-disabled | https://support.google.com/a/answer/3726730
554 30 Sorry, your message to ann@yahoo.com cannot be delivered. This mailbox is disabled (554.30) | mailbox-disabled | rb-sisimai rhost/yahooinc
550 5.7.1 <ann@people.test>: Recipient address rejected: User ann@people.test temporary locked. Please try again later! | mailbox-disabled | lhost-amazonses-19
550 5.1.1 The user account is suspended, user unknown | mailbox-disabled | rb-sisimai reason/suspend
550 5.1.1 RCP-P2 Refused due to recipient preferences | policy | lhost-facebook-03, whose server says 5.1.1
550 Unknown user ann@docomo.test | filtered | rhost-nttdocomo-01 | final
550 : User unknown | filtered | rhost-kddi-01
550 Requested action not taken: mailbox unavailable invalid DNS MX or A/AAAA resource record | policy | https://postmaster.gmx.net/en/error-messages
554 mailbox unavailable, message rejected due to policy | policy | the same in other words
550 5.7.1 <mail.shop.test>: Helo command rejected: Host not found | authentication | Postfix reject_unknown_helo_hostname
554 We do not accept mail from dynamic addresses | policy | a block of dynamic addresses
521 5.3.2 System not accepting network messages | other | lhost-dragonfly-16
550 5.4.4 Name service error: Malformed or unexpected name server reply | other | lhost-postfix-17
552 5.2.2 <ann@people.test>: user is over quota | mailbox-full | rhost-apple-03
550 5.7.1 Message filtered | content | lhost-postfix
`;

/** Replies after which the address can't receive mail anymore. */
const gone = `
550 5.1.1 <ann@people.test>... User unknown | no-mailbox | lhost-sendmail-01
550 5.1.1 <ann@people.test>: Recipient address rejected: User unknown in virtual mailbox table | no-mailbox | lhost-amavis-01
554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0] | no-mailbox | rhost-yahooinc-03 | final
550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416] | no-mailbox | rhost-franceptt-01 | final
550 5.4.1 Recipient address rejected: Access denied. | no-mailbox | lhost-postfix-30
550 5.4.4 Invalid domain | no-domain | lhost-amazonses-18
556 5.1.10 Recipient domain has null MX | no-domain | RFC 7505 section 4.2
`;

function causeOf(text: string, stage: Stage): string {
  const end = { kind: 'reply', stage, reply: parseReply(text) } as const;
  const result = { end, server: 'mx', transcript: [] };
  const verdict = classifyTransaction(result);
  assert.equal(verdict.outcome, 'bounced');
  return String(verdict.detail?.cause);
}

for (const [suppresses, rows] of [
  [false, alive],
  [true, gone],
] as const) {
  for (const row of rows.trim().split('\n')) {
    const [text = '', cause, source, stage] = row.split(' | ');
    test(`"${text}" is ${cause} (${source}) and ${suppresses ? 'suppresses' : 'does not suppress'}`, () => {
      assert.equal(causeOf(text, stage === 'final' ? stage : 'rcpt'), cause);
      assert.equal(
        hardCauses.some((hard) => hard === cause),
        suppresses,
      );
    });
  }
}

/** A bounce in plain text. */
function report(words: string): { readonly cause: string; readonly hard: boolean } {
  const head =
    'From: MAILER-DAEMON@mx.people.test\nSubject: Undelivered Mail Returned to Sender\nContent-Type: text/plain\n\n';
  const read = parseFeedbackMail({ source: Buffer.from(head + words) });
  assert.ok(read.kind === 'bounce' && read.permanent);
  return { cause: read.cause, hard: hardCauses.some((cause) => cause === read.cause) };
}

for (const [what, words, cause, hard] of [
  [
    'Postfix, after the text (lhost-postfix-03)',
    '<ann@people.test>: host mx.people.test[192.0.2.1] said: 550 Unknown user ann (in reply to end of DATA command)',
    'filtered',
    false,
  ],
  [
    'Exim, after the text (lhost-mailru-07)',
    'ann@people.test\n  SMTP error from remote mail server after end of data:\n  host mx.people.test [192.0.2.1]: 550 ann: no such user',
    'filtered',
    false,
  ],
  [
    'Sendmail, after the text (lhost-sendmail-19)',
    '... while talking to mx.people.test.:\n>>> DATA\n<<< 550 Unknown user ann@people.test\n554 5.0.0 Service unavailable',
    'filtered',
    false,
  ],
  [
    'Sendmail, whose DATA went along with RCPT (lhost-sendmail-27)',
    '... while talking to mx.people.test.:\n>>> DATA\n<<< 550 <ann@people.test>... User unknown\n<<< 503 5.0.0 Need RCPT (recipient)',
    'no-mailbox',
    true,
  ],
  [
    'a gateway that has its own words before the server’s (lhost-amazonses-01)',
    "5.1.0 - Unknown address error 550-'5.7.1 <ann@people.test>... Access denied' (delivery attempts: 0)",
    'policy',
    false,
  ],
  [
    'a program of the receiver that fails (lhost-postfix-01)',
    '<ann@people.test>: Command died with status 1. Command output: procmail: Couldn\'t create "/var/mail/ann" id: host: No such user',
    'other',
    false,
  ],
  [
    'a list that cannot be told from one that is closed (lhost-googlegroups-13)',
    '我們謹此通知，您試圖聯絡的群組可能不存在，或者您沒有在此群組張貼留言的權限。',
    'other',
    false,
  ],
] as const) {
  test(`a bounce from ${what} is ${cause}`, () => {
    assert.deepEqual(report(words), { cause, hard });
  });
}

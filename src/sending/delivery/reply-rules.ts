import type { RetryKind } from '../queue/retry-schedule.ts';

/** Why a receiver rejected mail permanently. */
export type PermanentCause =
  | 'no-mailbox'
  | 'mailbox-disabled'
  | 'mailbox-full'
  | 'no-domain'
  /** The server accepted the recipient and denied it after DATA, as recipients' filters do. */
  | 'filtered'
  | 'policy'
  | 'authentication'
  | 'reputation'
  | 'content'
  | 'size'
  | 'sender'
  | 'relaying'
  | 'loop'
  | 'unsupported'
  | 'other';

/**
 * Causes of hard bounces: the address is permanently invalid, and is suppressed. A disabled mailbox (RFC 3463 X.2.1) may be
 * reopened and a full one emptied; filters and our own faults say nothing about the address.
 */
export const hardCauses: readonly PermanentCause[] = ['no-mailbox', 'no-domain'];

/** Why a receiver asks for a retry. */
export type TemporaryCause =
  | 'greylist'
  | 'throttled'
  | 'mailbox-full'
  | 'mailbox-busy'
  | 'reputation'
  | 'authentication'
  | 'dns'
  | 'receiver-fault'
  | 'receiver-busy'
  | 'our-credentials'
  | 'protocol'
  | 'other';

export interface PermanentRule {
  readonly cause: PermanentCause;
  readonly codes?: readonly number[];
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
}

export interface TemporaryRule {
  readonly cause: TemporaryCause;
  readonly retry: RetryKind;
  readonly codes?: readonly number[];
  readonly enhanced?: RegExp;
  readonly text?: RegExp;
}

/**
 * 5xx replies that a retry or an operator can fix, although RFC 5321 section 4.2.1 calls them permanent: they are about
 * the session, a rate limit or our relay account, not the message.
 */
export const retryable5xxRules: readonly TemporaryRule[] = [
  // RFC 4954 section 6: authentication required, failed, too weak or needs encryption.
  { cause: 'our-credentials', retry: 'connection', codes: [530, 534, 535, 538] },
  // RFC 5321 section 4.2.3: bad sequence of commands; a new session starts over.
  { cause: 'protocol', retry: 'ordinary', codes: [503] },
  // RFC 5321 section 4.5.3.1.10: treat 552 for too many recipients as 452.
  { cause: 'receiver-busy', retry: 'ordinary', codes: [552], text: /too many recipients/i },
  {
    cause: 'throttled',
    retry: 'throttled',
    text: /\b(daily|hourly|monthly)\b[^.]{0,30}\b(limit|quota)|sending (limit|quota|rate) (has been )?exceeded|per hour\b|this hour\b|too many messages (sent|in a)|rate limit|frequency limited|receiving mail at a rate|exceeded the (maximum )?(number of )?messages per/i,
  },
];

/** Checked in order; the first match names the cause. All conditions of a rule must match. */
export const permanentRules: readonly PermanentRule[] = [
  // X.2.2: mailbox full.
  { cause: 'mailbox-full', enhanced: /^5\.2\.2$/ },
  // RFC 3463 section 3.3, X.2.3 and 3.4, X.3.4; RFC 1870 section 6.2.
  { cause: 'size', enhanced: /^5\.(2\.3|3\.4)$/ },
  {
    cause: 'size',
    text: /(message|mail|size)[^.]{0,40}(too (big|large)|exceed[a-z]{0,5} [^.]{0,30}(size|maximum|limit)|larger than)|\bsize limit|too much mail data/i,
  },
  {
    cause: 'mailbox-full',
    text: /(mailbox|mail box|user|account|quota|inbox|recipient)[^.]{0,30}(is )?(full|over ?quota|over the quota|quota exceeded|exceeded)|out of (storage|space|quota)|quota (is )?(exceeded|full|violation)|over ?quota|exceeded storage|insufficient (disk|storage|mailbox)|not enough (free |disk )?space/i,
  },
  // X.7.20 to X.7.27 (RFC 7372 and the IANA registry): SPF, DKIM, DMARC, ARC, reverse DNS.
  { cause: 'authentication', enhanced: /^5\.7\.(2[0-9]|509|515)$/ },
  { cause: 'content', text: /duplicate header|not rfc (5322|2822|compliant)|rfc \d+ compliant/i },
  {
    cause: 'authentication',
    text: /\b(dmarc|dkim|spf)\b|unauthenticated|authentication information|reverse dns|\bptr\b|\brdns\b|fcrdns|has no (ptr|reverse)|mismatch(es)? client ip|\b(helo|ehlo)\b[^.]{0,40}(reject|denied|invalid|not found)/i,
  },
  {
    cause: 'reputation',
    text: /block(ed)? ?list|black ?list|deny ?list|\brbl\b|\bdnsbl\b|spamhaus|spamcop|barracuda|sorbs|proofpoint|cloudmark|senderscore|uceprotect|abusix|\breputation\b|open relay|client host (\[[^\]]{0,200}\] )?(blocked|rejected)|your (ip|network|host)[^.]{0,60}(block|ban|list|reject)|ip( address)? [^.]{0,40}(block|ban|listed)|banned sending ip|on our block list/i,
  },
  // X.1.8: bad sender's system address; X.1.7: bad sender's mailbox syntax.
  { cause: 'sender', enhanced: /^5\.1\.[78]$/ },
  {
    cause: 'sender',
    text: /\b(invalid|bad|unroutable|unknown) sender|sender[^.]{0,40}(reject|denied|invalid|not (exist|found|allowed|verified|authorized)|unknown|verif)|domain of sender|return.?path|from address[^.]{0,30}(not|invalid)|mail from[^.]{0,30}(not|reject|denied)|not authorized to send (as|on behalf)|is not verified|remote mail server after (pipelined )?mail from/i,
  },
  // X.6.x: content or media; X.7.1 with words about spam.
  { cause: 'content', enhanced: /^5\.6\.\d+$/ },
  {
    cause: 'content',
    text: /\bspam\b|\bvirus\b|malware|phish|unsolicited|junk|illegal attachment|message (was )?filtered|content[^.]{0,30}(reject|block|denied|restrict|not accept|guidelines)|message (content|was) (rejected|blocked)|suspicious|banned (content|attachment)|prohibited content|blocked (url|link)/i,
  },
  { cause: 'loop', enhanced: /^5\.4\.(6|14)$/ },
  { cause: 'loop', text: /too many hops|mail loop|loop(s|ing)? (back|detected)|hop count/i },
  { cause: 'other', text: /(message|envelope) expired|queue\.expired/i },
  {
    cause: 'relaying',
    text: /relay(ing)?[^.]{0,30}(denied|disallowed|prohibited|not (permitted|allowed)|access)|unable to relay|not (permitted|configured) to relay|use me [^.]{0,40}.{0,40}as a relay|rcpthosts|not a local domain|cannot relay/i,
  },
  { cause: 'policy', text: /recipient.{0,2} preferences/i },
  // au (KDDI) omits the user when a recipient's filter rejects the mail.
  { cause: 'filtered', text: /(?:^|\b550:?) ?: user unknown/i },
  // A program on the receiver's side failed, whatever it says about users.
  { cause: 'other', text: /\bcommand (died|output)|can.?t create|couldn.?t create|procmail:/i },
  {
    cause: 'policy',
    text: /mailbox (unavailable|not available)[^;]{0,100}\b(polic|dns\b|reject|block|denied|refused)/i,
  },
  // Text that names the mailbox comes before ambiguous codes, and recoverable causes come before final ones.
  {
    cause: 'mailbox-disabled',
    text: /(mailbox|account|user|recipient|address)[^;]{0,60}\b(disabled|inactive|suspended|deactivated|frozen|locked)\b|has been (disabled|deactivated|suspended)/i,
  },
  {
    cause: 'no-mailbox',
    text: /\b(user|addressee|recipient|mailbox|address|account)( is| mailbox| email| name)? ?(unknown|not found|not known)|unknown (or (illegal|invalid|virtual) )?(user|recipient|mailbox|address|account|alias|local)|no such (user|recipient|mailbox|address|account|person|local)|(user|mailbox|recipient|account|address)[^;]{0,60}(does ?n.?o?t exist|not exist|doesn.t have)|recip(ient)?notfound|not our (user|customer)|not in recipient list|invalid.?recipient|could not be found|not a (valid|registered|known)[^;]{0,20} (user|recipient|mailbox|(email )?address)|tried to reach does not exist/i,
  },
  // X.2.1 mailbox disabled; X.7.13 user account disabled.
  { cause: 'mailbox-disabled', enhanced: /^5\.(2\.1|7\.13)$/ },
  {
    cause: 'mailbox-disabled',
    text: /(mailbox|account|user|recipient|address)[^;]{0,60}\b(closed|expired|blocked)\b|no longer (active|valid|available|in use|accept)/i,
  },
  // X.1.2 bad destination system, X.1.10 null MX (RFC 7505).
  { cause: 'no-domain', enhanced: /^5\.1\.(2|10)$/ },
  // X.4.4 unable to route: about the domain only if the text says so, since servers use it for any DNS fault.
  {
    cause: 'no-domain',
    enhanced: /^5\.4\.4$/,
    text: /(invalid|illegal|bad) (host|domain)|not found/i,
  },
  {
    cause: 'no-domain',
    text: /\b(domain|host)[^.]{0,40}(not (found|exist)|does ?n.?o?t exist|unknown|nxdomain)|no such (domain|host)|unrouteable|null mx|not accept(ing)? (any )?mail\b(?! from)/i,
  },
  // X.1.1 bad mailbox, X.1.0 other address status, X.1.3 bad syntax, X.1.6 moved; 5.1.351 and 5.4.1 are Microsoft's.
  { cause: 'no-mailbox', enhanced: /^5\.1\.(0|1|3|4|5|6|351)$/ },
  { cause: 'no-mailbox', enhanced: /^5\.4\.1$/, text: /recipient address(es)? rejected/i },
  {
    cause: 'no-mailbox',
    text: /mailbox (name )?(not allowed|unavailable|not available|unallocated)|recipient unavailable|(invalid|bad|illegal) (address|mailbox)|bad address syntax|marked as invalid|no mailbox/i,
  },
  // X.5.x: mail delivery protocol; codes 500 to 502, 504, 555 (RFC 5321 section 4.2.3).
  { cause: 'unsupported', enhanced: /^5\.5\.\d+$/ },
  { cause: 'unsupported', text: /protocol violation|syntax error/i },
  { cause: 'unsupported', codes: [500, 501, 502, 504, 555] },
  // X.7.x security or policy, after the more specific rules.
  { cause: 'policy', enhanced: /^5\.7\.\d+$/ },
  {
    cause: 'policy',
    text: /polic(y|ies)|not (allowed|permitted|authorized|accept(ed)?|welcome)\b|denied|refused|reject|restricted|blocked|prohibit|permission|forbidden|banned/i,
  },
  // RFC 5321 section 4.2.3: 552 exceeded storage allocation; RFC 7504: the domain accepts no mail.
  { cause: 'mailbox-full', codes: [552] },
  { cause: 'no-domain', codes: [556] },
];

/** Checked in order, for 4xx replies. */
export const temporaryRules: readonly TemporaryRule[] = [
  {
    cause: 'greylist',
    retry: 'greylist',
    text: /gr[ea]y.?list|greet.?pause|first time (sender|seen)|come back (later|in)|not yet (seen|authorized to deliver)|temporarily deferred .{0,40}unknown (sender|triplet)/i,
  },
  { cause: 'mailbox-full', retry: 'full', enhanced: /^4\.2\.2$/ },
  {
    cause: 'mailbox-full',
    retry: 'full',
    text: /over ?quota|quota (is )?exceeded|(mailbox|inbox|account|user)[^.]{0,30}(is )?full|out of storage|exceeded (his|her|its|their|the|storage) [^.]{0,20}(quota|allocation)/i,
  },
  {
    cause: 'throttled',
    retry: 'throttled',
    text: /rate.?limit|throttl|excessive|too (many|much|fast|quickly)|slow down|unusual (rate|volume)|exceed[a-z]{0,5} [^.]{0,40}(rate|connections|limit|messages)|limit exceeded|(connection|message|sending|delivery) (rate|limit)|(receiving|sent) mail at a rate|temporarily deferred due to|deferred due to (user|unexpected)|concurren/i,
  },
  { cause: 'authentication', retry: 'ordinary', enhanced: /^4\.7\.(2[0-9]|5|7)$/ },
  {
    cause: 'authentication',
    retry: 'ordinary',
    text: /\b(dmarc|dkim|spf)\b|reverse (dns|hostname)|\bptr\b|unauthenticated|name lookup failed|cannot find your (reverse )?hostname/i,
  },
  {
    cause: 'reputation',
    retry: 'throttled',
    text: /reputation|black ?list|block ?list|\brbl\b|dnsbl|spamhaus|temporarily (blocked|block)|client host rejected|\bspam\b|unsolicited|suspicious|blocked/i,
  },
  { cause: 'our-credentials', retry: 'connection', codes: [454], text: /auth/i },
  { cause: 'our-credentials', retry: 'connection', codes: [432] },
  {
    cause: 'dns',
    retry: 'connection',
    text: /\bdns (error|fail|lookup|server|query|timeout)|name (server|resolution)|\bresolv(e|ing|er)\b|domain[^.]{0,30}(lookup|not found)|host not found|nameserver/i,
  },
  { cause: 'mailbox-busy', retry: 'ordinary', codes: [450], enhanced: /^4\.2\.\d+$/ },
  {
    cause: 'mailbox-busy',
    retry: 'ordinary',
    text: /mailbox[^.]{0,30}(busy|locked|in use|unavailable)/i,
  },
  { cause: 'receiver-busy', retry: 'ordinary', enhanced: /^4\.(3\.2|4\.5)$/ },
  {
    cause: 'receiver-busy',
    retry: 'ordinary',
    text: /busy|overload|load (is )?too high|too high load|try (again )?later|try again|capacity|resources?|shutting down|not available|unavailable|closing/i,
  },
  { cause: 'receiver-busy', retry: 'ordinary', codes: [421] },
  { cause: 'receiver-fault', retry: 'ordinary', codes: [451, 452, 454, 455] },
  { cause: 'receiver-fault', retry: 'ordinary', enhanced: /^4\.[345]\.\d+$/ },
];
